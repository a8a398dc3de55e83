import { groupName } from "../../schema/kind.ts";
import { rbac } from "../../kinds/groups.ts";
import { groupVersion } from "./group-versions.ts";
import { at, change, take, type Rule, type VersionChange } from "./notes.ts";

/** Subjects had an apiVersion; the new version has the group. Service accounts are of the core group. */
const subjectGroup: Rule = ({ value: subject, vocabulary }) => {
  take(subject, "apiVersion");
  subject["apiGroup"] = subject["kind"] === "ServiceAccount" ? "" : groupName(rbac, vocabulary);
};

/** In v1alpha1 the user `*` meant all authenticated users. */
const everybody: Rule = (part) => {
  const { value: subject, vocabulary } = part;
  if (subject["kind"] !== "User" || subject["name"] !== "*") return;
  subject["kind"] = "Group";
  subject["name"] = `${vocabulary.systemPrefix}authenticated`;
  part.note(
    "name",
    `now the group ${JSON.stringify(subject["name"])}: the user "*" meant all authenticated users`,
  );
};

const v1 = groupVersion(rbac, "v1");
const v1alpha1 = groupVersion(rbac, "v1alpha1");
const bindings = ["ClusterRoleBinding", "RoleBinding"];
const roles = ["ClusterRole", "Role"];

export const rbacChanges: readonly VersionChange[] = [
  change(groupVersion(rbac, "v1beta1"), v1, [...bindings, ...roles]),
  change(v1alpha1, v1, roles),
  change(v1alpha1, v1, bindings, at("subjects[]", everybody, subjectGroup)),
];
