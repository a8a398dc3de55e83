import { atomicStruct, kind } from "./v1.ts";
import { dnsSubdomainFaults, pathSegmentFaults } from "../../base/names.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { Column } from "../../schema/columns.ts";
import { groupName, type ApiObject, type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { type Static, field, list, string } from "../../schema/types.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { rbac } from "../groups.ts";

const Subject = atomicStruct(
  "Subject",
  "A user, group or service account to which a binding grants a role.",
  {
    kind: field(1, string, "Kind of the subject: User, Group or ServiceAccount.")
      .declaredRequired()
      .knownValues("Group", "ServiceAccount", "User"),
    apiGroup: field(
      2,
      string,
      "API group of the subject: that of roles for the kinds User and Group, empty for ServiceAccount.",
    ),
    name: field(3, string, "Name of the subject.").required(),
    namespace: field(4, string, "Namespace of a service account; empty for other kinds."),
  },
);
export type Subject = Static<typeof Subject>;

const RoleRef = atomicStruct("RoleRef", "Reference to the role that a binding grants; immutable.", {
  apiGroup: field(1, string, "API group of the role.").required(),
  kind: field(2, string, "Kind of the role: Role or ClusterRole.").declaredRequired(),
  name: field(3, string, "Name of the role.").required(),
});
export type RoleRef = Static<typeof RoleRef>;

const bindingFields = {
  metadata: field(1, ObjectMeta, "Metadata of the binding.").emitEmpty(),
  subjects: field(2, list(Subject), "Users, groups and service accounts that get the role.").atomic(),
  roleRef: field(3, RoleRef, "The role that the binding grants; immutable.").required(),
};

interface Binding {
  metadata: ApiObject["metadata"];
  subjects?: Subject[] | undefined;
  roleRef: RoleRef;
}

export const RoleBinding = kind({
  name: "RoleBinding",
  resource: "rolebindings",
  singular: "rolebinding",
  scope: "Namespaced",
  doc: "Grants a role in the namespace of the binding.",
  nameForm: "pathSegment",
  createOnUpdate: true,
  effect: {
    enforced: "its subjects may do what the role allows, in the namespace of the binding",
  },
  fields: bindingFields,
  fillDefaults: fillBindingDefaults,
  validate: (binding, report, context) =>
    checkBinding(binding, ["ClusterRole", "Role"], false, report, context),
  validateUpdate: checkRoleRefUnchanged,
  warnings: strayNamespaces,
  columns: bindingColumns(),
});
export type RoleBinding = ObjectFor<typeof RoleBinding>;

export const ClusterRoleBinding = kind({
  name: "ClusterRoleBinding",
  resource: "clusterrolebindings",
  singular: "clusterrolebinding",
  scope: "Cluster",
  doc: "Grants a cluster role in all namespaces and for cluster-scoped resources.",
  nameForm: "pathSegment",
  createOnUpdate: true,
  effect: {
    enforced: "its subjects may do what the role allows, everywhere",
  },
  fields: bindingFields,
  fillDefaults: fillBindingDefaults,
  validate: (binding, report, context) => checkBinding(binding, ["ClusterRole"], true, report, context),
  validateUpdate: checkRoleRefUnchanged,
  warnings: strayNamespaces,
  columns: bindingColumns(),
});
export type ClusterRoleBinding = ObjectFor<typeof ClusterRoleBinding>;

function fillBindingDefaults(copy: Binding, { vocabulary }: KindContext): void {
  const own = groupName(rbac, vocabulary);
  if (copy.roleRef !== undefined && copy.roleRef.apiGroup === "") copy.roleRef.apiGroup = own;
  for (const subject of copy.subjects ?? []) {
    if (subject.apiGroup !== undefined && subject.apiGroup !== "") continue;
    if (subject.kind === "User" || subject.kind === "Group") subject.apiGroup = own;
  }
}

function checkBinding(
  binding: Binding,
  roleKinds: readonly string[],
  needsNamespace: boolean,
  report: FieldReport,
  { vocabulary }: KindContext,
): void {
  const own = groupName(rbac, vocabulary);
  const { roleRef } = binding;
  if (roleRef === undefined) return;
  if (roleRef.apiGroup !== own) report.at("roleRef", "apiGroup").notSupported(roleRef.apiGroup, [own]);
  if (!roleKinds.includes(roleRef.kind)) report.at("roleRef", "kind").notSupported(roleRef.kind, roleKinds);
  for (const message of roleRef.name === "" ? [] : pathSegmentFaults(roleRef.name)) {
    report.at("roleRef", "name").invalid(roleRef.name, message);
  }
  for (const [index, subject] of (binding.subjects ?? []).entries()) {
    if (report.full) return;
    checkSubject(subject, needsNamespace, own, report.at("subjects", index));
  }
}

function checkSubject(subject: Subject, needsNamespace: boolean, group: string, report: FieldReport): void {
  switch (subject.kind) {
    case "ServiceAccount":
      for (const message of subject.name === "" ? [] : dnsSubdomainFaults(subject.name)) {
        report.at("name").invalid(subject.name, message);
      }
      if ((subject.apiGroup ?? "") !== "") report.at("apiGroup").notSupported(subject.apiGroup, [""]);
      if (needsNamespace && (subject.namespace ?? "") === "") report.at("namespace").required();
      return;
    case "User":
    case "Group":
      if (subject.apiGroup !== group) report.at("apiGroup").notSupported(subject.apiGroup, [group]);
      return;
    default:
      report.at("kind").notSupported(subject.kind, ["Group", "ServiceAccount", "User"]);
  }
}

function checkRoleRefUnchanged(binding: Binding, live: Binding, report: FieldReport): void {
  const { roleRef } = binding;
  const same =
    roleRef.apiGroup === live.roleRef.apiGroup &&
    roleRef.kind === live.roleRef.kind &&
    roleRef.name === live.roleRef.name;
  if (!same) report.at("roleRef").invalid(roleRef, "cannot change roleRef");
}

/** Returns warnings for users and groups with a namespace, which match nothing. */
function strayNamespaces(binding: Binding): string[] {
  return (binding.subjects ?? []).flatMap((subject, index) =>
    subject.kind !== "ServiceAccount" && (subject.namespace ?? "") !== ""
      ? [`subjects[${index}].namespace: a ${subject.kind} has no namespace; this subject matches no user`]
      : [],
  );
}

function bindingColumns(): Column<Binding & ApiObject>[] {
  const names = (kindName: string) => (binding: Binding) =>
    (binding.subjects ?? [])
      .filter((subject) => subject.kind === kindName)
      .map((subject) =>
        kindName === "ServiceAccount" ? `${subject.namespace ?? ""}/${subject.name}` : subject.name,
      )
      .join(", ");
  return [
    nameColumn,
    {
      name: "Role",
      type: "string",
      doc: "Kind and name of the role.",
      cell: (binding) => `${binding.roleRef.kind}/${binding.roleRef.name}`,
    },
    ageColumn,
    {
      name: "Users",
      type: "string",
      priority: 1,
      doc: "Users that get the role.",
      cell: names("User"),
    },
    {
      name: "Groups",
      type: "string",
      priority: 1,
      doc: "Groups that get the role.",
      cell: names("Group"),
    },
    {
      name: "ServiceAccounts",
      type: "string",
      priority: 1,
      doc: "Service accounts that get the role.",
      cell: names("ServiceAccount"),
    },
  ];
}
