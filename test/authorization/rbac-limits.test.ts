import { afterEach, describe, expect, it, vi } from "vitest";
import type { PolicyRule } from "../../src/authorization/rbac/policy.ts";
import { RbacIndex } from "../../src/authorization/rbac/rbac-index.ts";
import { tableLimits } from "../../src/authorization/rbac/table-budget.ts";
import { StoredRbac } from "../../src/authorization/rbac/stored-rbac.ts";
import type { Decision } from "../../src/authorization/authorizer.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { storeOf, TestServer } from "../support/api.ts";
import { stepsOf } from "./steps.ts";
import { alice, ask, askPath, clusterRole, podRule, toUser } from "./support.ts";

const words = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
const many = (count: number, rules: readonly PolicyRule[]): readonly (readonly PolicyRule[])[] =>
  Array.from({ length: count }, () => rules);

/** Roles of one user. `granted` adds a last rule, the only one that allows `patch` on the pod `z`. */
const shapes: Record<string, readonly (readonly PolicyRule[])[]> = {
  "one rule with 100,000 resources": [[podRule(["get"], { resources: words("r", 100_000) })]],
  "one rule with 400 verbs on 400 resources of 400 groups": [
    [{ verbs: words("v", 400), apiGroups: words("g", 400), resources: words("r", 400) }],
  ],
  "one rule with 100,000 names": [[podRule(["get"], { resourceNames: words("n", 100_000) })]],
  "one rule with 100,000 URLs": [
    [{ verbs: ["get"], nonResourceURLs: words("/u", 100_000).map((url) => `${url}/*`) }],
  ],
  "28,000 rules": [words("n", 28_000).map((name) => podRule(["get"], { resourceNames: [name] }))],
  "3000 roles with a rule of 4096 combinations each": many(3000, [
    podRule(words("v", 64), { resources: words("r", 64) }),
  ]),
  "3000 roles with a rule of 250,000 combinations each": many(3000, [
    podRule(words("v", 500), { resources: words("r", 500) }),
  ]),
  "20 roles of 28,000 rules": many(
    20,
    words("n", 28_000).map((name) => podRule(["get"], { resourceNames: [name] })),
  ),
};

const wanted = ask(alice, "patch", { name: "z" });
const refused = ask(alice, "patch", { name: "y" });
const refusedPath = askPath(alice, "get", "/nothing/here");

function granted(roles: readonly (readonly PolicyRule[])[]): RbacIndex {
  const index = new RbacIndex(platform);
  for (const [i, rules] of roles.entries()) {
    const last = i === roles.length - 1 ? [podRule(["patch"], { resourceNames: ["z"] })] : [];
    index.putClusterRole(`role-${i}`, { rules: [...rules, ...last] });
    index.putClusterRoleBinding(`b-${i}`, { roleRef: clusterRole(`role-${i}`), subjects: [toUser("alice")] });
  }
  return index;
}

afterEach(() => vi.restoreAllMocks());

describe.each(Object.entries(shapes))("%s", (_shape, roles) => {
  it("A-5-02 requests are decided correctly, with limited steps per turn and a limited table size", () => {
    const index = granted(roles);
    for (const [question, verdict] of [
      [refused, "noOpinion"],
      [wanted, "allow"],
      [refusedPath, "noOpinion"],
    ] as const) {
      let decision: Decision | undefined;
      while (decision === undefined) {
        expect(stepsOf(() => (decision = index.attempt(question)))).toBeLessThan(8 * tableLimits.perTurn);
      }
      expect(decision.verdict).toBe(verdict);
      expect(index.tableSize).toBeLessThanOrEqual(tableLimits.total);
    }
  });

  it("A-5-02 the tables are empty after the bindings and roles are removed", () => {
    const index = granted(roles);
    index.attempt(refused);
    for (const i of roles.keys()) {
      if (i % 2 === 0) index.removeClusterRole(`role-${i}`);
      index.removeClusterRoleBinding(`b-${i}`);
      if (i % 2 === 1) index.removeClusterRole(`role-${i}`);
    }
    expect(index.tableSize).toBe(0);
    expect(index.authorize(wanted).verdict).toBe("noOpinion");
  });
});

it("A-5-02 a decision uses the current rules of a role that changes between its turns", () => {
  const index = granted(shapes["28,000 rules"]!);
  expect(index.attempt(wanted)).toBeUndefined();
  index.putClusterRole("role-0", { rules: [podRule(["delete"])] });
  expect(index.authorize(wanted).verdict).toBe("noOpinion");
  expect(index.authorize(ask(alice, "delete")).verdict).toBe("allow");
  expect(index.tableSize).toBe(0);
});

it("A-5-02 indexing 20,000 rules yields to the event loop at least twice", async () => {
  const server = await TestServer.start();
  const { client } = server.server;
  const store = storeOf(server);
  const rules = words("n", 20_000).map((name) => podRule(["get"], { resourceNames: [name] }));
  const group = "rbac.authorization.platform.io";
  const apiVersion: string = `${group}/v1`;
  await client.create({ apiVersion, kind: "ClusterRole", metadata: { name: "vast" }, rules });
  await client.create({
    apiVersion,
    kind: "ClusterRoleBinding",
    metadata: { name: "vast" },
    roleRef: { apiGroup: group, kind: "ClusterRole", name: "vast" },
    subjects: [toUser("alice")],
  });
  const policy = new StoredRbac(store, platform, systemClock, (error) => expect.fail(String(error)));
  await policy.start();
  let turns = 0;
  let deciding = true;
  const others = (async () => {
    for (; deciding; turns++) await new Promise((resolve) => setImmediate(resolve));
  })();
  const decision = await policy.authorize(ask(alice, "get", { name: "n19999" }));
  deciding = false;
  await others;
  expect(decision.verdict).toBe("allow");
  expect(turns).toBeGreaterThanOrEqual(2);
  policy.close();
  await server.close();
});
