import { keyOfSubject, type BoundSubject, type SubjectKey } from "./bound-subject.ts";
import type { BindingRecord, RoleRecord } from "./role-record.ts";

/** Returns the reason of an allowed request with binding, role and subject (spec: access review 2.2). */
export function describeGrant(
  binding: BindingRecord,
  role: RoleRecord,
  key: SubjectKey,
  systemPrefix: string,
): string {
  const bindingKind = binding.namespace === "" ? "ClusterRoleBinding" : "RoleBinding";
  const bindingName = binding.namespace === "" ? binding.name : `${binding.name}/${binding.namespace}`;
  const { kind, name, namespace } = subjectFor(binding, key, systemPrefix);
  const subjectText = `${kind} ${JSON.stringify(namespace === "" ? name : `${name}/${namespace}`)}`;
  const roleText = `${role.kind} ${JSON.stringify(role.name)}`;
  return `RBAC: allowed by ${bindingKind} ${JSON.stringify(bindingName)} of ${roleText} to ${subjectText}`;
}

/** Returns the subject of a binding that matches a user or group. */
export function subjectFor(
  binding: BindingRecord,
  { isGroup, name }: SubjectKey,
  systemPrefix: string,
): Pick<BoundSubject, "kind" | "name" | "namespace"> {
  const subject = binding.subjects.find((one) => {
    const subjectKey = keyOfSubject(one, systemPrefix);
    return one.valid && subjectKey.isGroup === isGroup && subjectKey.name === name;
  });
  return subject ?? { kind: isGroup ? "Group" : "User", name, namespace: "" };
}
