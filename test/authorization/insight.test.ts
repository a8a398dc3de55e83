import { afterEach, describe, expect, it, vi } from "vitest";
import type { Attributes } from "../../src/authorization/authorizer.ts";
import { AuthorizerChain, type ChainLink } from "../../src/authorization/authorizer-chain.ts";
import { allowedNames, whoCan } from "../../src/authorization/insight/stored-insight.ts";
import { explainRbac } from "../../src/authorization/insight/explain.ts";
import type { AccessInsight, Page } from "../../src/authorization/insight/insight.ts";
import type { PolicyRule } from "../../src/authorization/rbac/policy.ts";
import { RbacIndex } from "../../src/authorization/rbac/rbac-index.ts";
import { explainAccess } from "../../src/authorization/reviews/explanation.ts";
import { listSubjects } from "../../src/authorization/reviews/subject-list.ts";
import { decodeContinueToken, encodeContinueToken } from "../../src/kinds/insight/continue-token.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { alice, ask, askPath, clusterRole, podRule, toGroup, toUser, user } from "./support.ts";

const atOnce = () => undefined;
const page: Page = { limit: 200, after: undefined };
const action = ({ user: _user, ...rest }: ReturnType<typeof ask>) => rest;

/** Returns an index with `roles` roles, and ten bindings of each role to a user and a group. */
function crowded(roles: number, rules: (index: number) => readonly PolicyRule[]): RbacIndex {
  const index = new RbacIndex(platform);
  for (let i = 0; i < roles; i++) index.putClusterRole(`role-${i}`, { rules: rules(i) });
  for (let i = 0; i < roles * 10; i++) {
    const binding = {
      roleRef: clusterRole(`role-${i % roles}`),
      subjects: [toUser(`user-${i}`), toGroup(`team-${i % 50}`)],
    };
    if (i % 2 === 0) index.putClusterRoleBinding(`b-${i}`, binding);
    else index.putRoleBinding(`ns-${i % 100}`, `b-${i}`, binding);
  }
  return index;
}

/** Counts operations on maps, sets and lists in `work`: `most` between two calls of `yieldIfDue`, and `all`. */
async function stepsBetweenTurns(
  work: (yieldIfDue: () => undefined) => Promise<unknown>,
): Promise<{ most: number; all: number }> {
  const spies = [
    vi.spyOn(Map.prototype, "get"),
    vi.spyOn(Map.prototype, "set"),
    vi.spyOn(Set.prototype, "add"),
    vi.spyOn(Array.prototype, "includes"),
  ];
  const count = (): number => spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
  let last = 0;
  let most = 0;
  const look = (): undefined => {
    const now = count();
    most = Math.max(most, now - last);
    last = now;
  };
  await work(look);
  look();
  for (const spy of spies) spy.mockRestore();
  return { most, all: last };
}

afterEach(() => vi.restoreAllMocks());

describe("insight yields during long work", () => {
  const everybody = action(ask(alice, "get", { namespace: "ns-7" }));

  it("the first query indexes the roles within 20,000 steps per turn, and a later query takes fewer than 200 steps", async () => {
    const index = crowded(3000, (i) => [podRule(["get"], { resources: ["pods", `things-${i}`] })]);
    const first = await stepsBetweenTurns((yieldIfDue) =>
      whoCan(index, platform, everybody, page, yieldIfDue),
    );
    expect(first.most).toBeLessThan(20_000);
    const few = action(ask(alice, "get", { resource: "things-7", namespace: "ns-7" }));
    const later = await stepsBetweenTurns((yieldIfDue) => whoCan(index, platform, few, page, yieldIfDue));
    expect(later.all).toBeLessThan(200);
  });

  it("whoCan takes fewer than 150 steps for few subjects, with 200 and with 20,000 bindings", async () => {
    const steps: number[] = [];
    for (const roles of [20, 2000]) {
      const index = crowded(roles, (i) => [
        podRule(["get"], { resources: [i === 8 ? "pods" : `things-${i}`] }),
      ]);
      await whoCan(index, platform, everybody, page, atOnce);
      steps.push(
        (await stepsBetweenTurns((yieldIfDue) => whoCan(index, platform, everybody, page, yieldIfDue))).all,
      );
    }
    expect(Math.max(...steps)).toBeLessThan(150);
  });

  it("whoCan reads only the subjects of one page when all subjects are allowed", async () => {
    const index = crowded(2000, () => [podRule(["get"])]);
    await whoCan(index, platform, everybody, page, atOnce);
    const sixty = { limit: 60, after: undefined };
    const { subjects, more } = await whoCan(index, platform, everybody, sixty, atOnce);
    expect([subjects.length, more, subjects[0]]).toEqual([
      60,
      true,
      expect.objectContaining({ kind: "Group", name: "team-0" }),
    ]);
    expect(subjects[0]!.moreGrants).toBe(true);
    const read = vi.spyOn(index.directory, "after");
    await whoCan(index, platform, everybody, sixty, atOnce);
    expect(read).toHaveBeenCalledOnce();
  });

  it("an explanation of a role with 20,000 rules yields, and truncates long lists around the requested name", async () => {
    const index = new RbacIndex(platform);
    const names = Array.from({ length: 20_000 }, (_, i) => `n-${i}`);
    index.putClusterRole("vast", { rules: names.map((name) => podRule(["get"], { resourceNames: [name] })) });
    index.putClusterRole("wide", { rules: [podRule(["list"], { resourceNames: names })] });
    for (const name of ["vast", "wide"])
      index.putClusterRoleBinding(name, { roleRef: clusterRole(name), subjects: [toUser("alice")] });
    let offers = 0;
    const explanation = await explainRbac(
      index,
      platform,
      ask(alice, "get", { name: "n-19999" }),
      () => void offers++,
    );
    expect(offers).toBeGreaterThan(50);
    expect(explanation.grants).toMatchObject([{ role: { name: "vast" }, ruleIndex: 19_999 }]);
    const wide = await explainRbac(index, platform, ask(alice, "list", { name: "n-15000" }), atOnce);
    expect(wide.grants[0]!.rule.resourceNames).toHaveLength(20);
    expect(wide.grants[0]!.rule.resourceNames![0]).toBe("n-15000");
    expect(wide.grants[0]!.rule.entriesLeftOut).toBe(19_980);
  });

  it("allowedNames yields while it collects 20,000 names, and returns at most 20 names", async () => {
    const index = crowded(1, (at) =>
      Array.from({ length: 20_000 }, (_, n) => ({ ...podRule(["get"]), resourceNames: [`p-${at}-${n}`] })),
    );
    const names = await allowedNames(index, user("user-0"), "", atOnce);
    const collecting = await stepsBetweenTurns((yieldIfDue) =>
      allowedNames(index, user("user-0"), "", yieldIfDue),
    );
    expect(collecting.all).toBeGreaterThan(20_000);
    expect(collecting.most).toBeLessThan(1000);
    const { names: listed, more } = await names(ask(alice, "get", { resource: "pods" }));
    expect([listed.length, more]).toEqual([20, true]);
    const other = await names(ask(alice, "delete", { resource: "pods" }));
    expect(other).toEqual({ names: [], more: false });
  });

  it("whoCan uses the current rules of roles that change while they are indexed", async () => {
    const index = crowded(2000, (i) => [podRule(["get"], { resources: [`things-${i}`] })]);
    let turns = 0;
    const changing = (): undefined => {
      if (++turns === 2) index.putClusterRole("role-1998", { rules: [podRule(["get"])] });
      if (turns === 3) index.removeClusterRole("role-4");
    };
    await whoCan(index, platform, everybody, page, changing);
    expect(turns).toBeGreaterThan(3);
    const names = async (about: typeof everybody) =>
      (await whoCan(index, platform, about, page, atOnce)).subjects.map(({ grants }) => grants[0]!.role.name);
    expect(new Set(await names(everybody))).toEqual(new Set(["role-1998"]));
    expect(await names({ ...everybody, resource: "things-4" })).toEqual([]);
    expect(await names({ ...everybody, resource: "things-1998" })).toEqual([]);
    expect(new Set(await names({ ...everybody, resource: "things-6" }))).toEqual(new Set(["role-6"]));
  });
});

it("an explanation examines bindings in 1,000 namespaces and counts the others", async () => {
  const index = new RbacIndex(platform);
  index.putClusterRole("view", { rules: [podRule(["get"])] });
  for (let i = 0; i < 1200; i++)
    index.putRoleBinding(`ns-${i}`, "b", { roleRef: clusterRole("view"), subjects: [toGroup("dev")] });
  const explanation = await explainRbac(
    index,
    platform,
    ask(user("x", "dev"), "get", { namespace: "other" }),
    atOnce,
  );
  expect([
    explanation.nearMisses.length,
    explanation.nearMissesLeftOut,
    explanation.namespacesLeftOut,
  ]).toEqual([10, 990, 200]);
});

it("near misses are sorted by similarity to the request", async () => {
  const index = new RbacIndex(platform);
  const grants: Record<string, PolicyRule> = {
    "another name": podRule(["get"], { resourceNames: ["a"] }),
    "another verb": podRule(["list"]),
    "another group": podRule(["get"], { apiGroups: ["apps"] }),
    "nothing in common": podRule(["list"], { apiGroups: ["apps"], resources: ["jobs"] }),
    "a path": { verbs: ["get"], nonResourceURLs: ["/pods"] },
    "another verb and name": podRule(["list"], { resourceNames: ["a"] }),
  };
  for (const [name, rule] of Object.entries(grants).toReversed()) {
    index.putClusterRole(name, { rules: [rule] });
    index.putClusterRoleBinding(name, { roleRef: clusterRole(name), subjects: [toUser("alice")] });
  }
  const names = async (asked: Attributes) =>
    (await explainRbac(index, platform, asked, atOnce)).nearMisses.map(({ role }) => role.name);
  expect(await names(ask(alice, "get", { name: "b" }))).toEqual([
    "another name",
    "another verb",
    "another verb and name",
    "another group",
  ]);
  expect(await names(askPath(alice, "get", "/nodes"))).toEqual(["a path"]);
  expect(await names(askPath(alice, "post", "/pods"))).toEqual(["a path"]);
  expect(await names(askPath(alice, "post", "/nodes"))).toEqual([]);
});

describe("insight with several authorizers", () => {
  const link = (
    name: string,
    verdict: "allow" | "deny" | "noOpinion",
    more: Partial<ChainLink> = {},
  ): ChainLink => ({
    name,
    authorizer: { authorize: () => ({ verdict, reason: `${name} says so`, evaluationError: "" }) },
    resolver: undefined,
    ...more,
  });
  const spec = { user: "alice", resourceAttributes: { verb: "get", resource: "pods" } };
  const nothing = {
    grants: [],
    moreGrants: false,
    nearMisses: [],
    nearMissesLeftOut: 0,
    faults: [],
    faultsLeftOut: 0,
    namespacesLeftOut: 0,
  };
  const silent: AccessInsight = {
    explain: () => nothing,
    whoCan: () => ({ subjects: [], more: false }),
    namesFor: () => () => Promise.resolve({ names: [], more: false }),
  };

  it("an explanation lists the authorizers up to the one that decided", async () => {
    const chain = new AuthorizerChain([
      link("a", "noOpinion", { insight: silent }),
      link("b", "deny"),
      link("c", "allow"),
    ]);
    expect(await explainAccess(spec, chain, platform, () => [])).toEqual({
      allowed: false,
      denied: true,
      reason: "b says so",
      decidedBy: "b",
      authorizers: [
        { name: "a", opinion: "NoOpinion", reason: "a says so" },
        { name: "b", opinion: "Deny", reason: "b says so" },
      ],
    });
  });

  it("a subject list names the authorizers that can't list their subjects", async () => {
    const chain = new AuthorizerChain([
      link("webhook", "allow"),
      link("RBAC", "noOpinion", { insight: silent }),
    ]);
    const { unlisted } = await listSubjects({ ...spec, limit: 10, after: undefined }, chain, platform);
    expect(unlisted[0]).toEqual({
      authorizer: "webhook",
      message: "this authorizer can't list the users that it allows or denies",
    });
  });

  it("an explanation is computed again when it contradicts the decision because of a concurrent change", async () => {
    const index = new RbacIndex(platform);
    index.putClusterRole("view", { rules: [podRule(["get"])] });
    let asked = 0;
    const insight: AccessInsight = {
      ...silent,
      explain(attributes) {
        if (++asked === 1)
          index.putClusterRoleBinding("a", { roleRef: clusterRole("view"), subjects: [toUser("alice")] });
        return explainRbac(index, platform, attributes, atOnce);
      },
    };
    const chain = new AuthorizerChain([{ name: "RBAC", authorizer: index, resolver: index, insight }]);
    const status = await explainAccess(spec, chain, platform, () => []);
    expect([asked, status.allowed, status.grants?.length]).toEqual([2, true, 1]);
  });
});

describe("continue token of a subject list", () => {
  it.each([
    { kind: "User", name: "ann" },
    { kind: "Group", name: 'a "quoted" \\ name\n' },
    { kind: "ServiceAccount", namespace: "web", name: "bot" },
    { kind: "User", name: "" },
  ])("%j is unchanged after encoding and decoding", (place) => {
    expect(decodeContinueToken(encodeContinueToken(place))).toEqual(place);
  });

  it.each([
    "",
    "x",
    "W10",
    Buffer.from('["Robot","","a"]').toString("base64url"),
    Buffer.from('["User","","\\x"]').toString("base64url"),
    `${encodeContinueToken({ kind: "User", name: "a" })}=`,
  ])("the malformed token %j is decoded as undefined", (text) =>
    expect(decodeContinueToken(text)).toBeUndefined(),
  );
});
