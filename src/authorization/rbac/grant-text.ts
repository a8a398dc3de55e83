import { keyOfSubject, type BoundSubject, type SubjectKey } from "./bound-subject.ts";
import type { BindingRecord, RoleRecord } from "./role-record.ts";

/** The reason of an allowed request: binding, role and subject (spec: access review 2.2). */
export function describeGrant(
  binding: BindingRecord,
  role: RoleRecord,
  key: SubjectKey,
  systemPrefix: string,
): string {
  const bindingKind = binding.namespace === "" ? "ClusterRoleBinding" : "RoleBinding";
  const bindingName = binding.namespace === "" ? binding.name : `${binding.name}/${binding.namespace}`;
  const { kind, name, namespace } = subjectFor(binding, key, systemPrefix);
  const whom = `${kind} ${JSON.stringify(namespace === "" ? name : `${name}/${namespace}`)}`;
  const of = `${role.kind} ${JSON.stringify(role.name)}`;
  return `RBAC: allowed by ${bindingKind} ${JSON.stringify(bindingName)} of ${of} to ${whom}`;
}

/** The subject by which a binding names a user or group. */
export function subjectFor(
  binding: BindingRecord,
  { isGroup, name }: SubjectKey,
  systemPrefix: string,
): Pick<BoundSubject, "kind" | "name" | "namespace"> {
  const subject = binding.subjects.find((one) => {
    const own = keyOfSubject(one, systemPrefix);
    return one.counts && own.isGroup === isGroup && own.name === name;
  });
  return subject ?? { kind: isGroup ? "Group" : "User", name, namespace: "" };
}
