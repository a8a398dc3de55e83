import { describe, expect, it } from "vitest";
import {
  defaultPolicy,
  type RoleManifest,
} from "../../src/authorization/rbac/default-roles/default-policy.ts";
import { RbacIndex } from "../../src/authorization/rbac/rbac-index.ts";
import { reconcileBinding, reconcileClusterRole } from "../../src/authorization/rbac/reconcile.ts";
import { policyRuleFaults } from "../../src/kinds/rbac/policy-rule.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { alice, ask, askPath, user } from "./support.ts";

const policy = defaultPolicy(platform);
const find = (name: string): RoleManifest =>
  policy.clusterRoles.find(({ metadata }) => metadata.name === name)!;

/** Returns an index of the default policy, with aggregated rules as the aggregation controller writes them. */
function inForce(): RbacIndex {
  const index = new RbacIndex(platform);
  const gathered = (role: RoleManifest): NonNullable<RoleManifest["rules"]> => {
    const selector = role.aggregationRule?.clusterRoleSelectors?.[0] as
      { matchLabels: Record<string, string> } | undefined;
    if (selector === undefined) return role.rules ?? [];
    const [label] = Object.keys(selector.matchLabels);
    return policy.clusterRoles
      .filter(({ metadata }) => metadata.labels?.[label!] === "true")
      .flatMap(gathered);
  };
  for (const role of policy.clusterRoles) index.putClusterRole(role.metadata.name, { rules: gathered(role) });
  for (const binding of policy.clusterRoleBindings)
    index.putClusterRoleBinding(binding.metadata.name, binding);
  for (const role of policy.roles) index.putRole(role.metadata.namespace!, role.metadata.name, role);
  for (const binding of policy.roleBindings)
    index.putRoleBinding(binding.metadata.namespace!, binding.metadata.name, binding);
  return index;
}

describe("default RBAC policy", () => {
  it.each([platform, kubernetes])(
    "has valid rules, unique names and bindings to existing roles ($name)",
    (vocabulary) => {
      const { clusterRoles, clusterRoleBindings, roles, roleBindings } = defaultPolicy(vocabulary);
      const all = [...clusterRoles, ...clusterRoleBindings, ...roles, ...roleBindings];
      const keys = all.map(({ kind, metadata }) => `${kind}/${metadata.namespace ?? ""}/${metadata.name}`);
      expect(new Set(keys).size).toBe(keys.length);
      for (const { apiVersion, metadata } of all) {
        expect(apiVersion).toBe(`rbac.authorization.${vocabulary.groupSuffix}/v1`);
        expect(metadata.labels?.[vocabulary.bootstrappingLabel]).toBe("rbac-defaults");
        expect(metadata.annotations?.[vocabulary.autoUpdateAnnotation]).toBe("true");
      }
      for (const { kind, rules } of [...clusterRoles, ...roles]) {
        for (const rule of rules ?? [])
          expect(policyRuleFaults(rule, { namespaced: kind === "Role" })).toEqual([]);
      }
      for (const { roleRef, metadata } of [...clusterRoleBindings, ...roleBindings]) {
        expect(keys).toContain(
          `${roleRef.kind}/${roleRef.kind === "Role" ? metadata.namespace : ""}/${roleRef.name}`,
        );
      }
    },
  );

  it("contains no names of the other vocabulary", () => {
    expect(JSON.stringify(policy)).not.toMatch(/k8s|kube|heapster/);
    const names = defaultPolicy(kubernetes).clusterRoles.map(({ metadata }) => metadata.name);
    expect(names).toContain("system:kube-scheduler");
    expect(names).toContain("system:certificates.k8s.io:kube-apiserver-client-kubelet-approver");
    expect(names).toContain("system:kubelet-api-admin");
  });

  it("A-2.2-06 A-5-01 allows discovery and self reviews to authenticated users only", () => {
    const index = inForce();
    const member = user("alice", "system:authenticated");
    const self = { group: "authorization.platform.io", resource: "selfsubjectaccessreviews" };
    expect(index.authorize(ask(member, "create", self)).verdict).toBe("allow");
    const rules = { ...self, resource: "selfsubjectrulesreviews" };
    expect(index.authorize(ask(member, "create", rules)).verdict).toBe("allow");
    expect(index.authorize(askPath(member, "get", "/apis/apps/v1")).verdict).toBe("allow");
    const anonymous = user("system:anonymous", "system:unauthenticated");
    expect(index.authorize(ask(anonymous, "create", self)).verdict).toBe("noOpinion");
    expect(index.authorize(askPath(anonymous, "get", "/apis")).verdict).toBe("noOpinion");
    expect(index.authorize(askPath(anonymous, "get", "/readyz")).verdict).toBe("allow");
    expect(index.authorize(ask(member, "get")).verdict).toBe("noOpinion");
  });

  it("allows selfsubjectreviews in system:basic-user only when the kind is enabled", () => {
    const self = {
      verbs: ["create"],
      apiGroups: ["authentication.platform.io"],
      resources: ["selfsubjectreviews"],
    };
    const basic = (enabled: boolean) =>
      defaultPolicy(platform, { selfSubjectReviews: enabled }).clusterRoles.find(
        ({ metadata }) => metadata.name === "system:basic-user",
      )?.rules;
    expect(basic(true)).toContainEqual(self);
    expect(basic(false)).not.toContainEqual(self);
  });

  it("grants increasing permissions to view, edit and admin", () => {
    const index = inForce();
    for (const role of ["view", "edit", "admin"]) {
      const subjects = [{ kind: "User", name: role }];
      index.putRoleBinding("team-a", role, { roleRef: { kind: "ClusterRole", name: role }, subjects });
    }
    const may = (name: string, verb: string, resource: string, group = "") =>
      index.authorize(ask(user(name), verb, { resource, group, namespace: "team-a" })).verdict === "allow";
    const who = (verb: string, resource: string, group?: string) =>
      ["view", "edit", "admin"].filter((name) => may(name, verb, resource, group));
    expect(who("get", "pods")).toEqual(["view", "edit", "admin"]);
    expect(who("delete", "pods")).toEqual(["edit", "admin"]);
    expect(who("get", "secrets")).toEqual(["edit", "admin"]);
    expect(who("create", "rolebindings", "rbac.authorization.platform.io")).toEqual(["admin"]);
    expect(who("delete", "namespaces")).toEqual([]);
    expect(who("update", "endpoints")).toEqual([]);
    expect(index.authorize(ask(alice, "get", { namespace: "team-a" })).verdict).toBe("noOpinion");
  });
});

describe("reconciliation of default roles and bindings", () => {
  const view = find("system:aggregate-to-view");
  const binding = policy.clusterRoleBindings.find(
    ({ metadata }) => metadata.name === "system:public-info-viewer",
  )!;
  const off = { [platform.autoUpdateAnnotation]: "false" };

  it("creates missing objects and does not change complete ones", () => {
    expect(reconcileClusterRole(view, undefined, platform)).toEqual({ action: "create", object: view });
    expect(reconcileClusterRole(view, view, platform)).toBeUndefined();
    expect(reconcileBinding(binding, undefined, platform)).toEqual({ action: "create", object: binding });
    expect(reconcileBinding(binding, binding, platform)).toBeUndefined();
  });

  it("adds missing rules and labels and keeps additional ones", () => {
    const extra = { verbs: ["get"], apiGroups: ["x"], resources: ["y"] };
    const live = { ...view, rules: [extra], metadata: { name: view.metadata.name, labels: { mine: "1" } } };
    const result = reconcileClusterRole(view, live, platform);
    expect(result?.action).toBe("update");
    expect(result?.object.rules).toEqual([extra, ...view.rules!]);
    expect(result?.object.metadata.labels).toEqual({ mine: "1", ...view.metadata.labels });
    const wider = { ...view, rules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }] };
    expect(reconcileClusterRole(view, wider, platform)).toBeUndefined();
  });

  it("adds a missing aggregation selector, and adds no rules to an aggregated role", () => {
    const admin = find("admin");
    const own = { clusterRoleSelectors: [{ matchLabels: { mine: "1" } }] };
    const result = reconcileClusterRole(
      admin,
      { ...admin, rules: view.rules, aggregationRule: own },
      platform,
    );
    const selectors = (result!.object as RoleManifest).aggregationRule?.clusterRoleSelectors;
    expect(selectors).toEqual([...own.clusterRoleSelectors, ...admin.aggregationRule!.clusterRoleSelectors!]);
    expect(result?.object.rules).toEqual(view.rules);
  });

  it("adds missing subjects, and recreates a binding with another roleRef", () => {
    const mine = { kind: "User", name: "me" };
    const result = reconcileBinding(
      binding,
      { ...binding, subjects: [binding.subjects![0]!, mine] },
      platform,
    );
    expect(result?.object.subjects).toEqual([binding.subjects![0], mine, binding.subjects![1]]);
    const astray = { ...binding, roleRef: { ...binding.roleRef, name: "other" } };
    expect(reconcileBinding(binding, astray, platform)).toEqual({ action: "recreate", object: binding });
  });

  it("does not change objects with the auto-update annotation false", () => {
    const live = { ...view, rules: [], metadata: { ...view.metadata, annotations: off } };
    expect(reconcileClusterRole(view, live, platform)).toBeUndefined();
    const astray = { ...binding, roleRef: { ...binding.roleRef, name: "other" } };
    const kept = { ...astray, metadata: { ...binding.metadata, annotations: off } };
    expect(reconcileBinding(binding, kept, platform)).toBeUndefined();
  });
});
