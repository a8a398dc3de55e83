import type { BindingObject, Subject } from "./policy.ts";

/** Interned kind strings, to save memory with many bindings. */
const kinds = new Map(["User", "Group", "ServiceAccount"].map((kind) => [kind, kind]));

/** The user name or group of a subject; a service account is a user. */
export interface SubjectKey {
  readonly isGroup: boolean;
  readonly name: string;
}

/** A subject of a binding. */
export interface BoundSubject {
  readonly kind: string;
  readonly name: string;
  /** Namespace of a service account; empty for other kinds. */
  readonly namespace: string;
  /** False if the subject is invalid and so matches no user. */
  readonly valid: boolean;
}

/** Returns the subjects of a binding in `namespace` (empty for a ClusterRoleBinding), and messages about invalid subjects. */
export function readSubjects(
  binding: BindingObject,
  namespace: string,
): { subjects: BoundSubject[]; faults: string[] } {
  const faults: string[] = [];
  const subjects = (binding.subjects ?? []).map((subject): BoundSubject => {
    const { kind, name } = subject;
    const fault = validationMessage(subject);
    if (fault !== "") faults.push(fault);
    const isAccount = kind === "ServiceAccount";
    const accountNamespace = isAccount ? subject.namespace || namespace : "";
    return {
      kind: kinds.get(kind) ?? kind,
      name,
      namespace: accountNamespace,
      valid: fault === "" && (!isAccount || accountNamespace !== ""),
    };
  });
  return { subjects, faults };
}

/** Returns the user or group of a valid subject. */
export function keyOfSubject(subject: BoundSubject, systemPrefix: string): SubjectKey {
  const { kind, name, namespace } = subject;
  if (kind !== "ServiceAccount") return { isGroup: kind === "Group", name };
  return { isGroup: false, name: `${systemPrefix}serviceaccount:${namespace}:${name}` };
}

function validationMessage(subject: Subject): string {
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
