import type { Api } from "../support/api.ts";
import { clusterRole, clusterRoleBinding, ok, type PolicyRule, RBAC, refTo, user } from "./support.ts";

export const tenancy = "tenancy.platform.io";
export const workspaces = `/apis/${tenancy}/v1alpha1/workspaces`;
export const maps = "/api/v1/namespaces/default/configmaps";
export const secrets = "/api/v1/namespaces/default/secrets";

/** A path within a workspace. */
export const at = (name: string, path: string) => `/clusters/${name}${path}`;

/** What the administrator of a server with workspaces does for its users. */
export const workspacesOf = (admin: () => Api) => ({
  create: async (name: string, spec: object = {}) =>
    (await ok(admin().post(workspaces, { metadata: { name }, spec }))).body,

  /** Allows users to enter workspaces; no names mean all. */
  admit: (name: string, users: readonly string[], names: readonly string[] = []) =>
    roleFor(admin(), name, users, [
      { verbs: ["access"], apiGroups: [tenancy], resources: ["workspaces"], resourceNames: names },
    ]),
});

/** A role with these rules, and a binding of the same name. */
export async function roleFor(
  admin: Api,
  name: string,
  users: readonly string[],
  rules: readonly PolicyRule[],
): Promise<void> {
  await ok(admin.post(`${RBAC}/clusterroles`, clusterRole(name, rules)));
  const binding = clusterRoleBinding(name, refTo("ClusterRole", name), users.map(user));
  await ok(admin.post(`${RBAC}/clusterrolebindings`, binding));
}
