import type { BindingObject, Subject } from "./policy.ts";

/** One string for each known kind, however many bindings spell it. */
const kinds = new Map(["User", "Group", "ServiceAccount"].map((kind) => [kind, kind]));

/** A user or group as questions name them: service accounts are users. */
export interface SubjectKey {
  readonly isGroup: boolean;
  readonly name: string;
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
