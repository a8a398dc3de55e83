import { kind, struct } from "./v1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, field, list, string } from "../../schema/types.ts";
import { UserInfo } from "./user-info.ts";

const TokenReviewSpec = struct("TokenReviewSpec", "The token that is asked about.", {
  token: field(1, string, "The token."),
  audiences: field(
    2,
    list(string),
    "Those for whom the token should be meant; empty stands for the server.",
  ).atomic(),
});

const TokenReviewStatus = struct("TokenReviewStatus", "What the token says.", {
  authenticated: field(1, bool, "Whether the token belongs to a known user."),
  user: field(2, UserInfo, "The user.").emitEmpty(),
  error: field(3, string, "Why the token couldn't be checked."),
  audiences: field(4, list(string), "The requested audiences that the token has.").atomic(),
});

export const TokenReview = kind({
  name: "TokenReview",
  resource: "tokenreviews",
  singular: "tokenreview",
  scope: "Cluster",
  verbs: ["create"],
  doc: "Authenticates a token.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata; without a meaning here.").emitEmpty(),
    spec: field(2, TokenReviewSpec, "The token that is asked about.").declaredRequired(),
    status: field(3, TokenReviewStatus, "The answer, filled in by the server.").emitEmpty(),
  },
});
export type TokenReview = ObjectFor<typeof TokenReview>;
