import type { UserInfo } from "../../src/base/user-info.ts";
import type { NonResourceAttributes, ResourceAttributes } from "../../src/authorization/authorizer.ts";
import type { PolicyRule, RoleRef, Subject } from "../../src/authorization/rbac/policy.ts";
import { RbacIndex } from "../../src/authorization/rbac/rbac-index.ts";
import { platform } from "../../src/vocabulary/platform.ts";

export const rbacGroup = "rbac.authorization.platform.io";

export function user(name: string, ...groups: string[]): UserInfo {
  return { name, uid: "", groups, extra: {} };
}

/** Attributes of a request on core pods in all namespaces, with the fields of `about` replaced. */
export function ask(
  who: UserInfo,
  verb: string,
  about: Partial<ResourceAttributes> = {},
): ResourceAttributes {
  const pods = { group: "", version: "v1", resource: "pods", subresource: "", namespace: "", name: "" };
  return { kind: "resource", user: who, verb, ...pods, ...about };
}

export function askPath(who: UserInfo, verb: string, path: string): NonResourceAttributes {
  return { kind: "nonResource", user: who, verb, path };
}

/** A rule for core pods, with the fields of `more` replaced. */
export function podRule(verbs: string[], more: Partial<PolicyRule> = {}): PolicyRule {
  return { verbs, apiGroups: [""], resources: ["pods"], ...more };
}

export const clusterRole = (name: string): RoleRef => ({ apiGroup: rbacGroup, kind: "ClusterRole", name });
export const role = (name: string): RoleRef => ({ apiGroup: rbacGroup, kind: "Role", name });
export const toUser = (name: string): Subject => ({ kind: "User", apiGroup: rbacGroup, name });
export const toGroup = (name: string): Subject => ({ kind: "Group", apiGroup: rbacGroup, name });
export const toAccount = (name: string, namespace?: string): Subject => ({
  kind: "ServiceAccount",
  name,
  ...(namespace === undefined ? {} : { namespace }),
});

/** Returns an index that grants the rules to `alice` in the whole cluster. */
export function grantedToAlice(...rules: PolicyRule[]): RbacIndex {
  const index = new RbacIndex(platform);
  index.putClusterRole("granted", { rules });
  index.putClusterRoleBinding("alice", { roleRef: clusterRole("granted"), subjects: [toUser("alice")] });
  return index;
}

export const alice = user("alice");
