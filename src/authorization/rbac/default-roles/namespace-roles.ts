import {
  allow,
  read,
  recordEvents,
  type BindingDeclaration,
  type RoleDeclaration,
  type PolicyNames,
} from "./declare.ts";

/** The default Roles and RoleBindings of one namespace. */
export interface NamespacePolicy {
  readonly namespace: string;
  readonly roles: readonly RoleDeclaration[];
  readonly bindings: readonly BindingDeclaration[];
}

/** Returns the default Roles and RoleBindings of the system namespace and the public namespace. */
export function namespacePolicies(names: PolicyNames): NamespacePolicy[] {
  return [systemNamespace(names), publicNamespace(names)];
}

function systemNamespace(names: PolicyNames): NamespacePolicy {
  const { prefix, core, user, account, vocabulary } = names;
  const reader = "extension-apiserver-authentication-reader";
  const controller = (name: string): string => `${prefix}controller:${name}`;
  const lockRole = (component: string): string => `${prefix}:leader-locking-${component}`;
  const leaderElected = [names.controllerManager, names.scheduler];
  const bindToAccount = (name: string): BindingDeclaration => ({
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
        rules: [allow(`${read} delete`, core, "secrets"), recordEvents(names)],
      },
      ...leaderElected.map((component) => ({
        name: lockRole(component),
        rules: [allow("watch", core, "configmaps"), allow("get update", core, "configmaps", [component])],
      })),
    ],
    bindings: [
      { name: `${prefix}:${reader}`, role: reader, subjects: leaderElected.map(user) },
      ...leaderElected.map((component) => ({
        name: lockRole(component),
        role: lockRole(component),
        subjects: [user(component), account(component)],
      })),
      bindToAccount("bootstrap-signer"),
      bindToAccount("cloud-provider"),
      bindToAccount("token-cleaner"),
    ],
  };
}

function publicNamespace(names: PolicyNames): NamespacePolicy {
  const { prefix, core, account, vocabulary } = names;
  const signer = `${prefix}controller:bootstrap-signer`;
  return {
    namespace: vocabulary.publicNamespace,
    roles: [
      {
        name: signer,
        rules: [
          allow(read, core, "configmaps"),
          allow("update", core, "configmaps", ["cluster-info"]),
          recordEvents(names),
        ],
      },
    ],
    bindings: [{ name: signer, role: signer, subjects: [account("bootstrap-signer")] }],
  };
}
