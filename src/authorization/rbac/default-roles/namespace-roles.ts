import {
  allow,
  read,
  recordEvents,
  type BindingDeclaration,
  type RoleDeclaration,
  type Words,
} from "./declare.ts";

/** The Roles and RoleBindings that one namespace has from the start. */
export interface NamespacePolicy {
  readonly namespace: string;
  readonly roles: readonly RoleDeclaration[];
  readonly bindings: readonly BindingDeclaration[];
}

/** The default Roles and RoleBindings: of the system's own namespace, and of the one that everybody may read. */
export function namespacePolicies(words: Words): NamespacePolicy[] {
  return [systemNamespace(words), publicNamespace(words)];
}

function systemNamespace(words: Words): NamespacePolicy {
  const { prefix, core, user, account, vocabulary } = words;
  const reader = "extension-apiserver-authentication-reader";
  const controller = (name: string): string => `${prefix}controller:${name}`;
  const lock = (component: string): string => `${prefix}:leader-locking-${component}`;
  const lockers = [words.controllerManager, words.scheduler];
  const byAccount = (name: string): BindingDeclaration => ({
    name: controller(name),
    role: controller(name),
    subjects: [account(name)],
  });
  return {
    namespace: vocabulary.systemNamespace,
    roles: [
      { name: reader, rules: [allow(read, core, "configmaps", ["extension-apiserver-authentication"])] },
      { name: controller("bootstrap-signer"), rules: [allow(read, core, "secrets")] },
      { name: controller("cloud-provider"), rules: [allow(`create ${read}`, core, "configmaps")] },
      {
        name: controller("token-cleaner"),
        rules: [allow(`${read} delete`, core, "secrets"), recordEvents(words)],
      },
      ...lockers.map((component) => ({
        name: lock(component),
        rules: [allow("watch", core, "configmaps"), allow("get update", core, "configmaps", [component])],
      })),
    ],
    bindings: [
      { name: `${prefix}:${reader}`, role: reader, subjects: lockers.map(user) },
      ...lockers.map((component) => ({
        name: lock(component),
        role: lock(component),
        subjects: [user(component), account(component)],
      })),
      byAccount("bootstrap-signer"),
      byAccount("cloud-provider"),
      byAccount("token-cleaner"),
    ],
  };
}

function publicNamespace(words: Words): NamespacePolicy {
  const { prefix, core, account, vocabulary } = words;
  const signer = `${prefix}controller:bootstrap-signer`;
  return {
    namespace: vocabulary.publicNamespace,
    roles: [
      {
        name: signer,
        rules: [
          allow(read, core, "configmaps"),
          allow("update", core, "configmaps", ["cluster-info"]),
          recordEvents(words),
        ],
      },
    ],
    bindings: [{ name: signer, role: signer, subjects: [account("bootstrap-signer")] }],
  };
}
