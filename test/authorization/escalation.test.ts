import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StatusError } from "../../src/base/status-error.ts";
import { describeRules, missingRules } from "../../src/authorization/rbac/coverage.ts";
import {
  checkBindingWrite,
  checkRoleWrite,
  type EscalationSources,
} from "../../src/authorization/rbac/escalation.ts";
import { completeRules, type PolicyRule } from "../../src/authorization/rbac/policy.ts";
import type { RbacIndex } from "../../src/authorization/rbac/rbac-index.ts";
import { ruleAllows, ruleQuery } from "../../src/authorization/rbac/rule-match.ts";
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
  toUser,
  user,
} from "./support.ts";

const coverage: readonly (readonly [string, held: PolicyRule[], wanted: PolicyRule[], missing: string[]])[] =
  [
    ["an equal rule", [podRule(["get"])], [podRule(["get"])], []],
    [
      "permissions of two rules together",
      [podRule(["get"]), podRule(["list"])],
      [podRule(["get", "list"])],
      [],
    ],
    [
      "additional verbs",
      [podRule(["get"])],
      [podRule(["get", "list", "watch"])],
      ['{APIGroups:[""], Resources:["pods"], Verbs:["list" "watch"]}'],
    ],
    ["the verb `*`", [podRule(["*"])], [podRule(["get", "x"])], []],
    [
      "the requested verb `*`",
      [podRule(["get"])],
      [podRule(["*"])],
      ['{APIGroups:[""], Resources:["pods"], Verbs:["*"]}'],
    ],
    [
      "a subresource of all resources",
      [podRule(["get"], { resources: ["*/scale"] })],
      [podRule(["get"], { resources: ["pods/scale"] })],
      [],
    ],
    [
      "a subresource of a held resource",
      [podRule(["get"])],
      [podRule(["get"], { resources: ["pods/log"] })],
      ['{APIGroups:[""], Resources:["pods/log"], Verbs:["get"]}'],
    ],
    [
      "resourceNames, when the held rule has none",
      [podRule(["get"])],
      [podRule(["get"], { resourceNames: ["a"] })],
      [],
    ],
    [
      "no resourceNames, when the held rule has some",
      [podRule(["get"], { resourceNames: ["a"] })],
      [podRule(["get"])],
      ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
    ],
    [
      "an additional resource name",
      [podRule(["get"], { resourceNames: ["a"] })],
      [podRule(["get"], { resourceNames: ["a", "b"] })],
      ['{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}'],
    ],
    [
      "nonResourceURLs with wildcards",
      [{ verbs: ["get"], nonResourceURLs: ["/a/*"] }],
      [{ verbs: ["get"], nonResourceURLs: ["/a/b", "/a/b/*", "/b"] }],
      ['{NonResourceURLs:["/b"], Verbs:["get"]}'],
    ],
    ["a rule without verbs", [], [{ verbs: [], apiGroups: [""], resources: ["pods"] }], []],
  ];

describe("rule coverage", () => {
  it.each(coverage)("returns the missing permissions for %s", (_what, held, wanted, missing) => {
    expect(describeRules(missingRules(held, wanted))).toEqual(missing);
  });

  it("covered rules allow only requests that the held rules allow, and rules cover themselves", () => {
    const some = (...values: string[]) => fc.subarray(values, { minLength: 1 });
    const rule = fc.record({
      verbs: some("get", "list", "*"),
      apiGroups: some("", "apps", "*"),
      resources: some("pods", "pods/log", "*/log", "*"),
      resourceNames: fc.subarray(["x", "y"]),
    });
    const question = fc.record({
      verb: fc.constantFrom("get", "list", "patch"),
      group: fc.constantFrom("", "apps", "batch"),
      resource: fc.constantFrom("pods", "nodes"),
      subresource: fc.constantFrom("", "log", "exec"),
      name: fc.constantFrom("", "x", "z"),
    });
    const rules = fc.array(rule, { maxLength: 4 });
    const property = fc.property(
      rules,
      rules,
      fc.array(question, { minLength: 8 }),
      (held, wanted, questions) => {
        expect(missingRules(held, held)).toEqual([]);
        const missing = missingRules(held, wanted);
        // The held and the missing rules together cover all requested rules.
        expect(missingRules([...held, ...missing], wanted)).toEqual([]);
        const all = completeRules([...held, ...missing]);
        for (const { verb, ...about } of questions) {
          const query = ruleQuery(ask(alice, verb, about));
          const wants = completeRules(wanted).some((one) => ruleAllows(one, query));
          if (wants) expect(all.some((one) => ruleAllows(one, query))).toBe(true);
        }
      },
    );
    fc.assert(property, { numRuns: 300 });
  });

  it("a rule with millions of combinations is compared without expanding it", () => {
    const many = Array.from({ length: 3000 }, (_, i) => `x${i}`);
    const wide = podRule(many, { resources: many });
    expect(missingRules([podRule(["*"], { resources: ["*"] })], [wide])).toEqual([]);
    expect(missingRules([podRule(["get"])], [wide])).toHaveLength(1);
  });

  it("a path below a held wildcard URL is allowed", () => {
    const query = ruleQuery(askPath(alice, "get", "/a/b"));
    expect(
      completeRules([{ verbs: ["get"], nonResourceURLs: ["/a/*"] }]).some((one) => ruleAllows(one, query)),
    ).toBe(true);
  });
});

function sources(index: RbacIndex): EscalationSources {
  return { authorizer: index, policy: index, vocabulary: platform };
}

async function refusal(check: Promise<void>): Promise<StatusError | undefined> {
  try {
    await check;
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(StatusError);
    return error as StatusError;
  }
}

describe("escalation check of roles", () => {
  const write = {
    user: alice,
    namespace: "",
    name: "r",
    role: { rules: [podRule(["get", "list"])] },
    live: undefined,
  };

  it("rejects permissions that the user lacks with Forbidden, and names them", async () => {
    const error = await refusal(checkRoleWrite(write, sources(grantedToAlice(podRule(["get"])))));
    expect(error?.reason).toBe("Forbidden");
    expect(error?.message).toBe(
      `clusterroles.${rbacGroup} "r" is forbidden: user "alice" (groups=[]) is attempting to grant RBAC permissions ` +
        'not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["list"]}',
    );
  });

  it("allows permissions that the user holds", async () => {
    expect(await refusal(checkRoleWrite(write, sources(grantedToAlice(podRule(["*"])))))).toBeUndefined();
  });

  it("a Role requires the permissions in its namespace", async () => {
    const index = grantedToAlice();
    index.putRole("team-a", "own", { rules: [podRule(["get", "list"])] });
    index.putRoleBinding("team-a", "own", { roleRef: role("own"), subjects: [toUser("alice")] });
    const inNamespace = { ...write, namespace: "team-a" };
    expect(await refusal(checkRoleWrite(inNamespace, sources(index)))).toBeUndefined();
    expect((await refusal(checkRoleWrite({ ...write, namespace: "team-b" }, sources(index))))?.code).toBe(
      403,
    );
    expect((await refusal(checkRoleWrite(write, sources(index))))?.code).toBe(403);
  });

  it("the verb escalate and the group system:masters skip the check", async () => {
    const may = grantedToAlice({ verbs: ["escalate"], apiGroups: [rbacGroup], resources: ["clusterroles"] });
    expect(await refusal(checkRoleWrite(write, sources(may)))).toBeUndefined();
    const admin = { ...write, user: user("root", "system:masters") };
    expect(await refusal(checkRoleWrite(admin, sources(grantedToAlice())))).toBeUndefined();
  });

  it("the verb escalate with a resource name applies to that role when it exists", async () => {
    const may = grantedToAlice({
      verbs: ["escalate"],
      apiGroups: [rbacGroup],
      resources: ["clusterroles"],
      resourceNames: ["r"],
    });
    expect(await refusal(checkRoleWrite({ ...write, live: { rules: [] } }, sources(may)))).toBeUndefined();
    expect((await refusal(checkRoleWrite(write, sources(may))))?.code).toBe(403);
  });

  it("an update is checked unless it changes only ownerReferences and finalizers", async () => {
    const none = sources(grantedToAlice());
    const live = { ...write.role, metadata: { labels: { a: "b" }, resourceVersion: "7" } };
    const owners = [{ apiVersion: "v1", kind: "ConfigMap", name: "c", uid: "u" }];
    const collected = { ...live.metadata, ownerReferences: owners, finalizers: ["example.com/f"] };
    for (const namespace of ["", "team-a"]) {
      const update = (metadata: object) => ({ ...write, namespace, role: { ...live, metadata }, live });
      expect(await refusal(checkRoleWrite(update(live.metadata), none))).toBeUndefined();
      expect(await refusal(checkRoleWrite(update(collected), none))).toBeUndefined();
      for (const metadata of [
        { labels: { "rbac.authorization.platform.io/aggregate-to-admin": "true" } },
        { ...live.metadata, annotations: { "rbac.authorization.platform.io/autoupdate": "false" } },
      ]) {
        expect((await refusal(checkRoleWrite(update(metadata), none)))?.code).toBe(403);
      }
    }
  });

  it("an aggregation rule requires all permissions", async () => {
    const gathering = { ...write, role: { rules: [], aggregationRule: { clusterRoleSelectors: [{}] } } };
    const resources = podRule(["*"], { apiGroups: ["*"], resources: ["*"] });
    const error = await refusal(
      checkRoleWrite(gathering, sources(grantedToAlice({ ...resources, resources: ["pods"] }))),
    );
    expect(error?.message).toContain("must have cluster-admin privileges to use the aggregationRule");
    const all = grantedToAlice(resources, { verbs: ["*"], nonResourceURLs: ["*"] });
    expect(await refusal(checkRoleWrite(gathering, sources(all)))).toBeUndefined();
  });
});

describe("escalation check of bindings", () => {
  const binding = { roleRef: clusterRole("target"), subjects: [toUser("bob")] };
  const write = { user: alice, namespace: "team-a", name: "b", binding, live: undefined };
  function withTarget(...rules: PolicyRule[]): RbacIndex {
    const index = grantedToAlice(...rules);
    index.putClusterRole("target", { rules: [podRule(["get", "delete"])] });
    return index;
  }
  const bind = (resourceNames: string[]): PolicyRule => ({
    verbs: ["bind"],
    apiGroups: [rbacGroup],
    resources: ["clusterroles"],
    resourceNames,
  });

  it("rejects a binding to a role with permissions that the user lacks", async () => {
    const error = await refusal(checkBindingWrite(write, sources(withTarget(podRule(["get"])))));
    expect(error?.message).toContain(`rolebindings.${rbacGroup} "b" is forbidden`);
    expect(error?.message).toContain('{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}');
    const cluster = await refusal(checkBindingWrite({ ...write, namespace: "" }, sources(withTarget())));
    expect(cluster?.message).toContain(`clusterrolebindings.${rbacGroup} "b" is forbidden`);
  });

  it("a binding is allowed with the permissions, the verb bind on the role, or system:masters", async () => {
    expect(await refusal(checkBindingWrite(write, sources(withTarget(podRule(["*"])))))).toBeUndefined();
    expect(await refusal(checkBindingWrite(write, sources(withTarget(bind(["target"])))))).toBeUndefined();
    expect((await refusal(checkBindingWrite(write, sources(withTarget(bind(["other"]))))))?.code).toBe(403);
    const admin = { ...write, user: user("root", "system:masters") };
    expect(await refusal(checkBindingWrite(admin, sources(withTarget())))).toBeUndefined();
  });

  it("a binding to a missing role is allowed with the verb bind, and fails with NotFound otherwise", async () => {
    const dangling = { ...write, binding: { ...binding, roleRef: clusterRole("gone") } };
    expect((await refusal(checkBindingWrite(dangling, sources(withTarget()))))?.reason).toBe("NotFound");
    expect(await refusal(checkBindingWrite(dangling, sources(withTarget(bind([])))))).toBeUndefined();
  });

  it("an update that changes only finalizers is not checked; one of labels or subjects is", async () => {
    const same = { ...write, live: { ...binding, metadata: { finalizers: ["example.com/f"] } } };
    expect(await refusal(checkBindingWrite(same, sources(withTarget())))).toBeUndefined();
    const labelled = { ...same, binding: { ...binding, metadata: { labels: { a: "b" } } } };
    expect((await refusal(checkBindingWrite(labelled, sources(withTarget()))))?.code).toBe(403);
    const more = { ...same, binding: { ...binding, subjects: [toUser("eve")] } };
    expect((await refusal(checkBindingWrite(more, sources(withTarget()))))?.code).toBe(403);
  });
});
