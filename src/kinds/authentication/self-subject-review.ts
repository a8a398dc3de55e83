import * as v1 from "./v1.ts";
import * as v1alpha1 from "./v1alpha1.ts";
import * as v1beta1 from "./v1beta1.ts";
import type { Declarations, ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field } from "../../schema/types.ts";
import type { authentication } from "../groups.ts";
import { UserInfo } from "./user-info.ts";

/** Declares SelfSubjectReview in one version of the group. */
function declareSelfSubjectReview<const V extends string>(
  { kind, struct }: Declarations<typeof authentication, V>,
  servedByDefault: boolean,
) {
  const status = struct("SelfSubjectReviewStatus", "The caller's identity.", {
    userInfo: field(1, UserInfo, "Attributes of the caller.").emitEmpty(),
  });
  return kind({
    name: "SelfSubjectReview",
    resource: "selfsubjectreviews",
    singular: "selfsubjectreview",
    scope: "Cluster",
    doc: "Returns the identity of the caller.",
    verbs: ["create"],
    servedByDefault,
    fields: {
      metadata: field(1, ObjectMeta, "Object metadata; it has no effect.").emitEmpty(),
      status: field(2, status, "Result of the review, set by the server.").emitEmpty(),
    },
  });
}

/** Alpha: served only when runtime configuration enables it (spec: access review 9). */
export const SelfSubjectReview = declareSelfSubjectReview(v1alpha1, false);
export type SelfSubjectReview = ObjectFor<typeof SelfSubjectReview>;

/** Releases 1.27 to 1.32; served only when runtime configuration enables it. */
export const SelfSubjectReviewV1beta1 = declareSelfSubjectReview(v1beta1, false);
export type SelfSubjectReviewV1beta1 = ObjectFor<typeof SelfSubjectReviewV1beta1>;

/** Release 1.28 and later. */
export const SelfSubjectReviewV1 = declareSelfSubjectReview(v1, true);
export type SelfSubjectReviewV1 = ObjectFor<typeof SelfSubjectReviewV1>;
