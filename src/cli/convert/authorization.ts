import { authorization } from "../../kinds/groups.ts";
import { groupVersion } from "./group-versions.ts";
import { at, change, rename, type VersionChange } from "./notes.ts";

const v1beta1 = groupVersion(authorization, "v1beta1");
const v1 = groupVersion(authorization, "v1");

export const authorizationChanges: readonly VersionChange[] = [
  change(
    v1beta1,
    v1,
    ["SubjectAccessReview", "LocalSubjectAccessReview"],
    at("spec", rename("group", "groups")),
  ),
  change(v1beta1, v1, ["SelfSubjectAccessReview", "SelfSubjectRulesReview"]),
];
