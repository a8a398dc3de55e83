import { expect } from "vitest";
import type { CreateServerOptions } from "../../src/index.ts";
import { ok } from "../support/answers.ts";
import { TestServer, type Answer, type Api, type TestUser } from "../support/api.ts";

export { ok, until } from "../support/answers.ts";
export { ManualClock, settle } from "../support/manual-clock.ts";

/** Paths of the groups, as the specification abbreviates them (access review 4). */
export const AUTHZ = "/apis/authorization.platform.io/v1";
export const AUTHN = "/apis/authentication.platform.io/v1alpha1";
export const RBAC = "/apis/rbac.authorization.platform.io/v1";
export const rbacGroup = "rbac.authorization.platform.io";

/** Starts a server with the given users; the token of each is the user name. */
export const startWithUsers = (users: readonly TestUser[], options: CreateServerOptions = {}) =>
  TestServer.start({ ...options, users });

export interface PolicyRule {
  readonly verbs?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

export const namespace = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
export const configMap = (
  name: string,
  data: Record<string, string> = { key: "value" },
  meta: object = {},
) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...meta },
  data,
});
export const podReader: PolicyRule = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };
const rbacObject = (kind: string, name: string, fields: object, meta: object) => ({
  apiVersion: `${rbacGroup}/v1`,
  kind,
  metadata: { name, ...meta },
  ...fields,
});
export const role = (name: string, rules: readonly PolicyRule[] = [podReader], meta: object = {}) =>
  rbacObject("Role", name, { rules }, meta);
export const clusterRole = (name: string, rules: readonly PolicyRule[] = [podReader], meta: object = {}) =>
  rbacObject("ClusterRole", name, { rules }, meta);
export const refTo = (kind: "Role" | "ClusterRole", name: string) => ({ apiGroup: rbacGroup, kind, name });
export const user = (name: string) => ({ kind: "User", apiGroup: rbacGroup, name });
export const group = (name: string) => ({ kind: "Group", apiGroup: rbacGroup, name });
export const account = (ns: string, name: string) => ({ kind: "ServiceAccount", namespace: ns, name });
export const roleBinding = (name: string, roleRef: object, subjects: readonly object[], meta: object = {}) =>
  rbacObject("RoleBinding", name, { roleRef, subjects }, meta);
export const clusterRoleBinding = (
  name: string,
  roleRef: object,
  subjects: readonly object[],
  meta: object = {},
) => rbacObject("ClusterRoleBinding", name, { roleRef, subjects }, meta);

/** Grants rules to a user in the whole cluster. */
export async function grant(admin: Api, name: string, rules: readonly PolicyRule[]): Promise<void> {
  await ok(admin.post(`${RBAC}/clusterroles`, clusterRole(`grant-${name}`, rules)));
  const binding = clusterRoleBinding(`grant-${name}`, refTo("ClusterRole", `grant-${name}`), [user(name)]);
  await ok(admin.post(`${RBAC}/clusterrolebindings`, binding));
}

/**
 * The reason why a bearer token is rejected: the response to its request doesn't have it, a TokenReview of the administrator does. Fails
 * the test if the token is valid.
 */
export async function rejectionOf(server: TestServer, token: string): Promise<string> {
  const { status, body } = await server.as(token).get("/version");
  expect([status, body.message]).toEqual([401, "Unauthorized"]);
  const review = await ok(
    server.admin.post("/apis/authentication.platform.io/v1/tokenreviews", { spec: { token } }),
  );
  return review.body.status.error as string;
}

/** The names of the items of a list, in its order. */
export const namesIn = ({ body }: Answer): string[] =>
  (body.items as { metadata: { name: string } }[]).map((item) => item.metadata.name);

/** The fields of a failure's causes. */
export const causeFields = ({ body }: Answer): string[] =>
  ((body.details?.causes ?? []) as { field?: string }[]).map((cause) => cause.field ?? "");

/** The four RBAC kinds with the data that the tests need. */
export const roleKinds = [
  {
    kind: "ClusterRole",
    list: `${RBAC}/clusterroles`,
    all: `${RBAC}/clusterroles`,
    make: (name: string, meta: object = {}) => clusterRole(name, [podReader], meta),
  },
  {
    kind: "ClusterRoleBinding",
    list: `${RBAC}/clusterrolebindings`,
    all: `${RBAC}/clusterrolebindings`,
    make: (name: string, meta: object = {}) =>
      clusterRoleBinding(name, refTo("ClusterRole", "view"), [user("ann")], meta),
  },
  {
    kind: "Role",
    list: `${RBAC}/namespaces/default/roles`,
    all: `${RBAC}/roles`,
    make: (name: string, meta: object = {}) => role(name, [podReader], meta),
  },
  {
    kind: "RoleBinding",
    list: `${RBAC}/namespaces/default/rolebindings`,
    all: `${RBAC}/rolebindings`,
    make: (name: string, meta: object = {}) =>
      roleBinding(name, refTo("ClusterRole", "view"), [user("ann")], meta),
  },
] as const;
