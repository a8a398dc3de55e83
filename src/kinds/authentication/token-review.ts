import { kind, struct } from "./v1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, field, list, string } from "../../schema/types.ts";
import { UserInfo } from "./user-info.ts";

const TokenReviewSpec = struct("TokenReviewSpec", "The token to authenticate.", {
  token: field(1, string, "The bearer token."),
  audiences: field(2, list(string), "Accepted audiences of the token; empty means the API server.").atomic(),
});

const TokenReviewStatus = struct("TokenReviewStatus", "Result of the authentication.", {
  authenticated: field(1, bool, "Whether the token authenticates a user."),
  user: field(2, UserInfo, "The authenticated user.").emitEmpty(),
  error: field(3, string, "Error that prevented the authentication."),
  audiences: field(4, list(string), "Accepted audiences for which the token is valid.").atomic(),
});

export const TokenReview = kind({
  name: "TokenReview",
  resource: "tokenreviews",
  singular: "tokenreview",
  scope: "Cluster",
  verbs: ["create"],
  doc: "Authenticates a token.",
  fields: {
    metadata: field(1, ObjectMeta, "Object metadata; it has no effect.").emitEmpty(),
    spec: field(2, TokenReviewSpec, "The token to authenticate.").declaredRequired(),
    status: field(3, TokenReviewStatus, "Result of the review, set by the server.").emitEmpty(),
  },
});
export type TokenReview = ObjectFor<typeof TokenReview>;
