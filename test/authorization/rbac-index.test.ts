import { describe, expect, it } from "vitest";
import type { Attributes } from "../../src/authorization/authorizer.ts";
import type { PolicyRule } from "../../src/authorization/rbac/policy.ts";
import { RbacIndex } from "../../src/authorization/rbac/rbac-index.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import {
  alice,
  ask,
  askPath,
  clusterRole,
  grantedToAlice,
  podRule,
  rbacGroup,
  role,
  toAccount,
  toGroup,
  toUser,
  user,
} from "./support.ts";

type Row = readonly [what: string, rule: PolicyRule, question: Attributes, allowed: boolean];

const get = podRule(["get"]);
const rows: readonly Row[] = [
  ["A-2.4-01 the empty apiGroup matches the core group", get, ask(alice, "get"), true],
  ["A-2.4-01 the empty apiGroup matches no other group", get, ask(alice, "get", { group: "apps" }), false],
  [
    "A-2.4-01 the apiGroup `*` matches every group",
    podRule(["get"], { apiGroups: ["*"] }),
    ask(alice, "get", { group: "x" }),
    true,
  ],
  [
    "A-2.4-01 a rule without apiGroups matches no resource",
    podRule(["get"], { apiGroups: [] }),
    ask(alice, "get"),
    false,
  ],
  [
    "A-2.4-02 a rule matches every combination of its verbs, groups and resources",
    { verbs: ["get", "list"], apiGroups: ["", "apps"], resources: ["pods", "deployments"] },
    ask(alice, "list", { group: "apps", resource: "pods" }),
    true,
  ],
  [
    "A-2.4-03 the resource `*` matches every resource",
    podRule(["get"], { resources: ["*"] }),
    ask(alice, "get", { resource: "x" }),
    true,
  ],
  [
    "A-2.4-03 the resource `*` matches every subresource",
    podRule(["get"], { resources: ["*"] }),
    ask(alice, "get", { subresource: "log" }),
    true,
  ],
  ["A-2.4-03 a resource doesn't match a subresource", get, ask(alice, "get", { subresource: "log" }), false],
  [
    "A-2.4-03 a subresource doesn't match its resource",
    podRule(["get"], { resources: ["pods/log"] }),
    ask(alice, "get"),
    false,
  ],
  [
    "A-2.4-03 a subresource matches itself",
    podRule(["get"], { resources: ["pods/log"] }),
    ask(alice, "get", { subresource: "log" }),
    true,
  ],
  [
    "A-2.4-03 `*/scale` matches the subresource scale of every resource",
    podRule(["get"], { resources: ["*/scale"] }),
    ask(alice, "get", { resource: "deployments", subresource: "scale" }),
    true,
  ],
  [
    "A-2.4-03 `*/scale` matches no other subresource",
    podRule(["get"], { resources: ["*/scale"] }),
    ask(alice, "get", { subresource: "status" }),
    false,
  ],
  ["A-2.4-04 the verb `*` matches every verb", podRule(["*"]), ask(alice, "anything"), true],
  ["A-2.4-04 a verb matches no other verb", get, ask(alice, "list"), false],
  ["A-2.4-04 null verbs grant nothing", { ...get, verbs: null }, ask(alice, "get"), false],
  [
    "A-2.4-05 resourceNames match a listed name",
    podRule(["get"], { resourceNames: ["a", "b"] }),
    ask(alice, "get", { name: "b" }),
    true,
  ],
  [
    "A-2.4-05 resourceNames don't match another name",
    podRule(["get"], { resourceNames: ["a"] }),
    ask(alice, "get", { name: "c" }),
    false,
  ],
  [
    "A-2.4-05 no match without a name",
    podRule(["list"], { resourceNames: ["a"] }),
    ask(alice, "list"),
    false,
  ],
  [
    "A-2.4-05 empty resourceNames match every name",
    podRule(["get"], { resourceNames: [] }),
    ask(alice, "get", { name: "c" }),
    true,
  ],
  [
    "A-2.4-06 a URL matches the equal path",
    { verbs: ["get"], nonResourceURLs: ["/healthz"] },
    askPath(alice, "get", "/healthz"),
    true,
  ],
  [
    "A-2.4-06 a URL doesn't match a path below it",
    { verbs: ["get"], nonResourceURLs: ["/healthz"] },
    askPath(alice, "get", "/healthz/etcd"),
    false,
  ],
  [
    "A-2.4-06 `/*` matches all paths below",
    { verbs: ["get"], nonResourceURLs: ["/healthz/*"] },
    askPath(alice, "get", "/healthz/a/b"),
    true,
  ],
  [
    "A-2.4-06 `/*` doesn't match the path itself",
    { verbs: ["get"], nonResourceURLs: ["/healthz/*"] },
    askPath(alice, "get", "/healthz"),
    false,
  ],
  ["A-2.4-06 `*` matches all", { verbs: ["*"], nonResourceURLs: ["*"] }, askPath(alice, "post", "/x"), true],
  [
    "A-2.4-06 the URL `*` doesn't match another verb",
    { verbs: ["get"], nonResourceURLs: ["*"] },
    askPath(alice, "post", "/x"),
    false,
  ],
  [
    "A-2.4-08 a resource rule matches no path",
    podRule(["*"], { resources: ["*"] }),
    askPath(alice, "get", "/pods"),
    false,
  ],
  [
    "A-2.4-08 a nonResourceURLs rule matches no resource",
    { verbs: ["*"], nonResourceURLs: ["*"] },
    ask(alice, "get"),
    false,
  ],
  ["A-2.2-23 group `*` is not allowed by the core group", get, ask(alice, "get", { group: "*" }), false],
  [
    "A-2.2-23 group `*` is allowed by group `*`",
    podRule(["get"], { apiGroups: ["*"] }),
    ask(alice, "get", { group: "*" }),
    true,
  ],
  ["A-2.2-27 resource `*` is not allowed by resource pods", get, ask(alice, "get", { resource: "*" }), false],
  [
    "A-2.2-27 resource `*` is allowed by resource `*`",
    podRule(["get"], { resources: ["*"] }),
    ask(alice, "get", { resource: "*" }),
    true,
  ],
  ["A-2.2-29 verb `*` is not allowed by named verbs", podRule(["get", "list"]), ask(alice, "*"), false],
  ["A-2.2-29 verb `*` is allowed by verb `*`", podRule(["*"]), ask(alice, "*"), true],
  ["A-2.2-30 a rule matches every API version", get, ask(alice, "get", { version: "*" }), true],
  ["A-2.2-25 a cluster rule matches all namespaces", get, ask(alice, "get", { namespace: "" }), true],
  [
    "A-5-05 rules for the resource roles match like any other",
    { verbs: ["deletecollection"], apiGroups: [rbacGroup], resources: ["roles"] },
    ask(alice, "deletecollection", { group: rbacGroup, resource: "roles", namespace: "a" }),
    true,
  ],
];

describe("RBAC rule matching", () => {
  it.each(rows)("%s", (_what, rule, question, allowed) => {
    expect(grantedToAlice(rule).authorize(question).verdict).toBe(allowed ? "allow" : "noOpinion");
    // The same decision with a table for many roles, and with a rule that is too wide for the table.
    const many = grantedToAlice(rule);
    for (let i = 0; i < 8; i++) {
      many.putClusterRole(`other-${i}`, { rules: [podRule(["get"], { resources: [`other-${i}`] })] });
      many.putClusterRoleBinding(`other-${i}`, {
        roleRef: clusterRole(`other-${i}`),
        subjects: [toUser("alice")],
      });
    }
    expect(many.authorize(question).verdict).toBe(allowed ? "allow" : "noOpinion");
    const padding = Array.from({ length: 5000 }, (_, i) => `verb-${i}`);
    const wide = grantedToAlice({
      ...rule,
      verbs: rule.verbs === null ? null : [...rule.verbs!, ...padding],
    });
    expect(wide.authorize(question).verdict).toBe(allowed ? "allow" : "noOpinion");
  });

  it("A-2.4-10 each rule of a role grants permissions", () => {
    const index = grantedToAlice(podRule(["get"]), podRule(["list"]), {
      verbs: ["get"],
      nonResourceURLs: ["/x"],
    });
    expect(index.authorize(ask(alice, "get")).verdict).toBe("allow");
    expect(index.authorize(ask(alice, "list")).verdict).toBe("allow");
    expect(index.authorize(askPath(alice, "get", "/x")).verdict).toBe("allow");
  });
});

describe("RBAC bindings", () => {
  const inTeamA = (verb: string, who = alice) => ask(who, verb, { namespace: "team-a" });

  it("A-2.4-09 A-2.4-30 A-5-04 a RoleBinding to a ClusterRole grants its rules in the namespace only", () => {
    const index = new RbacIndex(platform);
    index.putClusterRole("view", { rules: [podRule(["get"])] });
    index.putRoleBinding("team-a", "view-team", {
      roleRef: clusterRole("view"),
      subjects: [toUser("alice")],
    });
    expect(index.authorize(inTeamA("get")).verdict).toBe("allow");
    expect(index.authorize(ask(alice, "get", { namespace: "team-b" })).verdict).toBe("noOpinion");
    expect(index.authorize(ask(alice, "get")).verdict).toBe("noOpinion");
  });

  it("A-2.4-29 a RoleBinding refers to a Role of its own namespace only", () => {
    const index = new RbacIndex(platform);
    index.putRole("team-a", "reader", { rules: [podRule(["get"])] });
    index.putRoleBinding("team-a", "b", { roleRef: role("reader"), subjects: [toUser("alice")] });
    index.putRoleBinding("team-b", "b", { roleRef: role("reader"), subjects: [toUser("alice")] });
    expect(index.authorize(inTeamA("get")).verdict).toBe("allow");
    expect(index.authorize(ask(alice, "get", { namespace: "team-b" })).verdict).toBe("noOpinion");
  });

  it("A-2.4-09 A-5-03 a ClusterRoleBinding grants its rules in all namespaces to each subject", () => {
    const index = new RbacIndex(platform);
    index.putClusterRole("view", { rules: [podRule(["get"])] });
    const subjects = [toUser("alice"), toGroup("dev"), toAccount("robot", "ci")];
    index.putClusterRoleBinding("all", { roleRef: clusterRole("view"), subjects });
    const those = [alice, user("bob", "other", "dev"), user("system:serviceaccount:ci:robot")];
    for (const one of those) {
      expect(index.authorize(inTeamA("get", one)).verdict).toBe("allow");
      expect(index.authorize(ask(one, "get")).verdict).toBe("allow");
    }
    expect(index.authorize(inTeamA("get", user("dev", "alice"))).verdict).toBe("noOpinion");
  });

  it("A-2.4-07 nonResourceURLs are granted by a ClusterRoleBinding only", () => {
    const index = new RbacIndex(platform);
    index.putClusterRole("paths", { rules: [{ verbs: ["get"], nonResourceURLs: ["/metrics"] }] });
    index.putRoleBinding("team-a", "b", { roleRef: clusterRole("paths"), subjects: [toUser("alice")] });
    expect(index.authorize(askPath(alice, "get", "/metrics")).verdict).toBe("noOpinion");
    expect(index.rulesFor(alice, "team-a").nonResourceRules).toEqual([]);
    index.putClusterRoleBinding("b", { roleRef: clusterRole("paths"), subjects: [toUser("alice")] });
    expect(index.authorize(askPath(alice, "get", "/metrics")).verdict).toBe("allow");
  });

  it("A-2.4-20 a ServiceAccount subject without namespace is in the namespace of the binding", () => {
    const index = new RbacIndex(platform);
    index.putClusterRole("view", { rules: [podRule(["get"])] });
    index.putRoleBinding("team-a", "b", { roleRef: clusterRole("view"), subjects: [toAccount("robot")] });
    const decision = index.authorize(inTeamA("get", user("system:serviceaccount:team-a:robot")));
    expect(decision.reason).toContain('to ServiceAccount "robot/team-a"');
    expect(index.authorize(inTeamA("get", user("system:serviceaccount:ci:robot"))).verdict).toBe("noOpinion");
  });

  it("A-5-02 A-1-09 removing one of two bindings keeps the permission, and a changed role applies at once", () => {
    const index = new RbacIndex(platform);
    index.putClusterRole("view", { rules: [podRule(["get"])] });
    for (const name of ["one", "two"]) {
      index.putRoleBinding("team-a", name, { roleRef: clusterRole("view"), subjects: [toUser("alice")] });
    }
    index.putClusterRole("nothing", { rules: [] });
    index.putRoleBinding("team-a", "three", { roleRef: clusterRole("nothing"), subjects: [toUser("alice")] });
    index.removeRoleBinding("team-a", "one");
    expect(index.authorize(inTeamA("get")).reason).toContain('"two/team-a"');
    index.putClusterRole("view", { rules: [podRule(["list"])] });
    expect(index.authorize(inTeamA("get")).verdict).toBe("noOpinion");
    expect(index.authorize(inTeamA("list")).verdict).toBe("allow");
    index.removeRoleBinding("team-a", "two");
    expect(index.authorize(inTeamA("list")).verdict).toBe("noOpinion");
  });

  it("C-5.9-04 the anonymous user and group have only permissions that are bound to them", () => {
    const index = grantedToAlice(podRule(["*"], { apiGroups: ["*"], resources: ["*"] }));
    const anonymous = user("system:anonymous", "system:unauthenticated");
    expect(index.authorize(ask(anonymous, "get")).verdict).toBe("noOpinion");
    index.putClusterRoleBinding("open", {
      roleRef: clusterRole("granted"),
      subjects: [toGroup("system:unauthenticated")],
    });
    expect(index.authorize(ask(anonymous, "get")).verdict).toBe("allow");
  });
});

describe("RBAC reasons and evaluation errors", () => {
  it("A-2.2-37 the reason names binding, role and subject", () => {
    const index = new RbacIndex(platform);
    index.putClusterRole("view", { rules: [podRule(["get"])] });
    index.putRoleBinding("team-a", "view-team", { roleRef: clusterRole("view"), subjects: [toGroup("dev")] });
    expect(index.authorize(ask(user("bob", "dev"), "get", { namespace: "team-a" })).reason).toBe(
      'RBAC: allowed by RoleBinding "view-team/team-a" of ClusterRole "view" to Group "dev"',
    );
    expect(grantedToAlice(podRule(["get"])).authorize(ask(alice, "get")).reason).toBe(
      'RBAC: allowed by ClusterRoleBinding "alice" of ClusterRole "granted" to User "alice"',
    );
  });

  it("A-2.4-26 A-2.4-31 a dangling roleRef returns an evaluation error for its subjects only", () => {
    const index = new RbacIndex(platform);
    index.putClusterRoleBinding("b", { roleRef: clusterRole("gone"), subjects: [toUser("alice")] });
    index.putRoleBinding("team-a", "b", { roleRef: role("lost"), subjects: [toUser("alice")] });
    const decision = index.authorize(ask(alice, "get", { namespace: "team-a" }));
    expect(decision.verdict).toBe("noOpinion");
    expect(decision.evaluationError).toBe(
      `[clusterrole.${rbacGroup} "gone" not found, role.${rbacGroup} "lost" not found]`,
    );
    expect(index.authorize(ask(alice, "get")).evaluationError).toBe(
      `clusterrole.${rbacGroup} "gone" not found`,
    );
    expect(index.authorize(ask(user("bob"), "get")).evaluationError).toBe("");
    index.putClusterRole("gone", { rules: null });
    expect(index.authorize(ask(alice, "get")).evaluationError).toBe("");
    index.removeClusterRole("gone");
    expect(index.authorize(ask(alice, "get")).evaluationError).not.toBe("");
  });

  it("A-2.2-36 a request is allowed by another binding despite a dangling roleRef", () => {
    const index = grantedToAlice(podRule(["get"]));
    index.putClusterRoleBinding("a", { roleRef: clusterRole("gone"), subjects: [toUser("alice")] });
    const decision = index.authorize(ask(alice, "get"));
    expect(decision.verdict).toBe("allow");
    expect(decision.evaluationError).toContain('"gone" not found');
  });

  it("A-2.4-17 A-2.4-18 a subject of an unknown kind returns an evaluation error for the users and groups that the binding names", () => {
    const index = grantedToAlice(podRule(["get"]));
    index.putClusterRoleBinding("odd", {
      roleRef: clusterRole("granted"),
      subjects: [{ kind: "Robot", name: "r2" }, toGroup("dev")],
    });
    const error = 'ClusterRoleBinding "odd": unknown subject kind "Robot" of "r2"';
    expect(index.authorize(ask(user("r2"), "get"))).toMatchObject({
      verdict: "noOpinion",
      evaluationError: error,
    });
    expect(index.authorize(ask(user("x", "r2"), "get"))).toMatchObject({
      verdict: "noOpinion",
      evaluationError: error,
    });
    expect(index.authorize(ask(user("x", "dev"), "get"))).toMatchObject({
      verdict: "allow",
      evaluationError: error,
    });
    expect(index.authorize(ask(alice, "get")).evaluationError).toBe("");
    index.removeClusterRoleBinding("odd");
    expect(index.authorize(ask(user("r2"), "get")).evaluationError).toBe("");
  });

  it.each(["User", "Group"])("A-2.4-22 a %s with namespace matches no user and returns an error", (kind) => {
    const index = new RbacIndex(platform);
    index.putClusterRole("view", { rules: [podRule(["get"])] });
    const subjects = [{ kind, apiGroup: rbacGroup, name: "x", namespace: "team-a" }];
    index.putRoleBinding("team-a", "b", { roleRef: clusterRole("view"), subjects });
    const who = kind === "User" ? user("x") : user("y", "x");
    const decision = index.authorize(ask(who, "get", { namespace: "team-a" }));
    expect(decision.verdict).toBe("noOpinion");
    expect(decision.evaluationError).toBe(
      `RoleBinding "b/team-a": ${kind} "x" has namespace "team-a": only a ServiceAccount has one`,
    );
    expect(index.authorize(ask(who, "get", { namespace: "team-b" })).evaluationError).toBe("");
  });

  it("A-2.4-25 a ClusterRoleBinding to a Role grants nothing and returns an evaluation error", () => {
    const index = new RbacIndex(platform);
    index.putRole("team-a", "reader", { rules: [podRule(["get"])] });
    index.putClusterRoleBinding("b", { roleRef: role("reader"), subjects: [toUser("alice")] });
    const decision = index.authorize(ask(alice, "get", { namespace: "team-a" }));
    expect(decision).toMatchObject({
      verdict: "noOpinion",
      evaluationError: `role.${rbacGroup} "reader" not found`,
    });
  });

  it("A-2.2-38 A-2.2-47 the rules list omits the resource name `*`, which doesn't match other names", () => {
    const index = grantedToAlice(
      podRule(["get"], { resourceNames: ["*"] }),
      podRule(["list"], { resourceNames: ["*", "a"] }),
      { verbs: ["get"], nonResourceURLs: ["/x"] },
    );
    expect(index.authorize(ask(alice, "get", { name: "b" })).verdict).toBe("noOpinion");
    expect(index.rulesFor(alice, "team-a")).toEqual({
      resourceRules: [{ verbs: ["list"], apiGroups: [""], resources: ["pods"], resourceNames: ["a"] }],
      nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }],
      incomplete: false,
      evaluationError: "",
    });
  });
});
