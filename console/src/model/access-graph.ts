/** A role or cluster role. */
export interface RoleObject {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly object[] | null;
}

export interface BindingObject {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly subjects?: readonly BindingSubject[] | null;
  readonly roleRef: { readonly kind: string; readonly name: string };
}

export interface BindingSubject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

/** All roles and bindings. */
export interface AccessObjects {
  readonly clusterRoles: readonly RoleObject[];
  readonly roles: readonly RoleObject[];
  readonly clusterRoleBindings: readonly BindingObject[];
  readonly roleBindings: readonly BindingObject[];
}

/** A path from a subject over a binding and a role to its rules. */
export interface AccessPath {
  /** `User ann` or `Group team`. */
  readonly subject: string;
  readonly binding: string;
  /** Empty for the whole cluster. */
  readonly namespace: string;
  readonly role: string;
  /** Undefined if the role doesn't exist. */
  readonly rules: readonly object[] | undefined;
}

/** Returns the paths of a user and of groups, in the order of subject and binding. */
export function accessPaths(objects: AccessObjects, user: string, groups: readonly string[]): AccessPath[] {
  const clusterRoles = new Map(objects.clusterRoles.map((role) => [role.metadata.name, role]));
  const roles = new Map(
    objects.roles.map((role) => [`${role.metadata.namespace ?? ""}/${role.metadata.name}`, role]),
  );
  const paths: AccessPath[] = [];
  const add = (kind: string, { metadata: { name, namespace = "" }, subjects, roleRef }: BindingObject) => {
    const role =
      roleRef.kind === "ClusterRole"
        ? clusterRoles.get(roleRef.name)
        : roles.get(`${namespace}/${roleRef.name}`);
    for (const subject of subjects ?? []) {
      if (!isOf(subject, namespace, user, groups)) continue;
      paths.push({
        subject: `${subject.kind} ${subject.name}`,
        binding: `${kind} ${name}`,
        namespace,
        role: `${roleRef.kind} ${roleRef.name}`,
        rules: role === undefined ? undefined : (role.rules ?? []),
      });
    }
  };
  for (const binding of objects.clusterRoleBindings) add("ClusterRoleBinding", binding);
  for (const binding of objects.roleBindings) add("RoleBinding", binding);
  return paths.toSorted((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
}

/** A binding that grants nothing, and why. */
export interface BindingFault {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly message: string;
}

/** Returns the bindings whose role doesn't exist, and those without subjects. */
export function bindingsWithoutEffect(objects: AccessObjects): BindingFault[] {
  const existing = new Set([
    ...objects.clusterRoles.map(({ metadata }) => `ClusterRole ${metadata.name}`),
    ...objects.roles.map(({ metadata }) => `Role ${metadata.namespace ?? ""}/${metadata.name}`),
  ]);
  const faults: BindingFault[] = [];
  const check = (kind: string, { metadata: { name, namespace = "" }, subjects, roleRef }: BindingObject) => {
    const role =
      roleRef.kind === "ClusterRole" ? `ClusterRole ${roleRef.name}` : `Role ${namespace}/${roleRef.name}`;
    const message = existing.has(role)
      ? (subjects ?? []).length === 0
        ? "names nobody"
        : undefined
      : `${roleRef.kind} ${roleRef.name} doesn't exist`;
    if (message !== undefined) faults.push({ kind, namespace, name, message });
  };
  for (const binding of objects.clusterRoleBindings) check("ClusterRoleBinding", binding);
  for (const binding of objects.roleBindings) check("RoleBinding", binding);
  return faults;
}

function isOf(
  { kind, name, namespace }: BindingSubject,
  bindingNamespace: string,
  user: string,
  groups: readonly string[],
): boolean {
  if (kind === "User") return name === user;
  if (kind === "Group") return groups.includes(name);
  return user === `system:serviceaccount:${namespace ?? bindingNamespace}:${name}`;
}

function orderOf({ subject, namespace, binding }: AccessPath): string {
  return `${subject}\u0000${namespace}\u0000${binding}`;
}
