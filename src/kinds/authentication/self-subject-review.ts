import { kind, struct } from "./v1alpha1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field } from "../../schema/types.ts";
import { UserInfo } from "./user-info.ts";

const SelfSubjectReviewStatus = struct("SelfSubjectReviewStatus", "The caller, as the server sees them.", {
  userInfo: field(1, UserInfo, "The caller's attributes.").emitEmpty(),
});

/** Alpha: served only when runtime configuration enables it (spec: access review 9). */
export const SelfSubjectReview = kind({
  name: "SelfSubjectReview",
  resource: "selfsubjectreviews",
  singular: "selfsubjectreview",
  scope: "Cluster",
  doc: "Says who the caller is to the server.",
  verbs: ["create"],
  servedByDefault: false,
  fields: {
    metadata: field(1, ObjectMeta, "Metadata; without a meaning here.").emitEmpty(),
    status: field(2, SelfSubjectReviewStatus, "The answer, filled in by the server.").emitEmpty(),
  },
});
export type SelfSubjectReview = ObjectFor<typeof SelfSubjectReview>;
