import { kind, type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, list, map, string, struct } from "../../schema/types.ts";
import { authentication } from "../groups.ts";

export const UserInfo = struct("UserInfo", "What the server holds about a user.", {
  username: field(1, string, "Name that identifies the user among all active users."),
  uid: field(2, string, "Identifies the user over time."),
  groups: field(3, list(string), "Groups the user is in.").atomic(),
  extra: field(4, map(list(string)), "Further facts from the authenticator."),
});

const SelfSubjectReviewStatus = struct("SelfSubjectReviewStatus", "The caller, as the server sees them.", {
  userInfo: field(1, UserInfo, "The caller's attributes.").emitEmpty(),
});

/** Alpha: served only when runtime configuration enables it (spec: access review 9). */
export const SelfSubjectReview = kind({
  group: authentication,
  version: "v1alpha1",
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
