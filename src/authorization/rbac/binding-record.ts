import type { BindingObject, Subject } from "./policy.ts";
import type { RoleRecord } from "./role-record.ts";

/** One string for each known kind, however many bindings spell it. */
const kinds = new Map(["User", "Group", "ServiceAccount"].map((kind) => [kind, kind]));

/** A user or group as questions name them: service accounts are users. */
export interface SubjectKey {
  readonly isGroup: boolean;
  readonly name: string;
}

/** A binding as the index holds it. */
export interface BindingRecord {
  readonly name: string;
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string;
  /** Undefined when the roleRef's kind is none that could be resolved. */
  readonly role: RoleRecord | undefined;
  readonly subjects: readonly BoundSubject[];
  /** What keeps parts of the binding from counting; empty when nothing does. */
  readonly fault: string;
}

/** A subject of a binding. */
export interface BoundSubject {
  readonly kind: string;
  readonly name: string;
  /** Of a service account, else empty. */
  readonly namespace: string;
  /** False when a fault keeps it from matching anybody. */
  readonly counts: boolean;
}

/** The subjects of a binding in `namespace` (empty: the cluster), and what is wrong with them. */
export function readSubjects(
  binding: BindingObject,
  namespace: string,
): { subjects: BoundSubject[]; faults: string[] } {
  const faults: string[] = [];
  const subjects = (binding.subjects ?? []).map((subject): BoundSubject => {
    const { kind, name } = subject;
    const fault = faultOf(subject);
    if (fault !== "") faults.push(fault);
    const isAccount = kind === "ServiceAccount";
    const accountNamespace = isAccount ? subject.namespace || namespace : "";
    return {
      kind: kinds.get(kind) ?? kind,
      name,
      namespace: accountNamespace,
      counts: fault === "" && (!isAccount || accountNamespace !== ""),
    };
  });
  return { subjects, faults };
}

/** The user or group that a subject names; meaningless for an invalid subject. */
export function keyOfSubject(subject: BoundSubject, systemPrefix: string): SubjectKey {
  const { kind, name, namespace } = subject;
  if (kind !== "ServiceAccount") return { isGroup: kind === "Group", name };
  return { isGroup: false, name: `${systemPrefix}serviceaccount:${namespace}:${name}` };
}

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

function faultOf(subject: Subject): string {
  switch (subject.kind) {
    case "ServiceAccount":
      return "";
    case "User":
    case "Group":
      if ((subject.namespace ?? "") === "") return "";
      return `${subject.kind} ${JSON.stringify(subject.name)} has namespace ${JSON.stringify(subject.namespace)}: only a ServiceAccount has one`;
    default:
      return `unknown subject kind ${JSON.stringify(subject.kind)} of ${JSON.stringify(subject.name)}`;
  }
}
