import { describe, expect, test } from "vitest";
import { authorizationChain } from "../../src/authorization/authorizer-chain.ts";
import type { AccessInsight, AllowedSubjects } from "../../src/authorization/insight/insight.ts";
import { whoCan } from "../../src/authorization/insight/stored-insight.ts";
import { RbacIndex } from "../../src/authorization/rbac/rbac-index.ts";
import { absentGroups, allowedGroups } from "../../src/authorization/reviews/user-groups.ts";
import { createYielder } from "../../src/base/turns/yielding.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { ask, clusterRole, podRule, toAccount, toGroup, toUser, user } from "./support.ts";

describe("groups that authentication adds and a review doesn't name", () => {
  test.each([
    ["alice", [], ["system:authenticated"]],
    ["alice", ["developers"], ["system:authenticated"]],
    ["alice", ["system:authenticated"], []],
    ["system:node:a", [], ["system:authenticated"]],
    [
      "system:serviceaccount:shop:web",
      [],
      ["system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"],
    ],
    [
      "system:serviceaccount:shop:web",
      ["system:serviceaccounts:shop"],
      ["system:serviceaccounts", "system:authenticated"],
    ],
    ["system:anonymous", [], []],
    ["", [], []],
  ])("of %j with %j are %j", (name, groups, expected) => {
    for (const vocabulary of [platform, kubernetes])
      expect(absentGroups(user(name, ...groups), vocabulary)).toEqual(expected);
  });
});

describe("groups whose members are allowed what a user without groups is denied", () => {
  /** Returns the groups that a review of `alice` names, if these subjects may get pods. */
  async function groupsFor(subjects: readonly object[], who = user("alice")) {
    const index = new RbacIndex(platform);
    index.putClusterRole("pods", { rules: [podRule(["get"])] });
    subjects.forEach((subject, n) => {
      const binding = { roleRef: clusterRole("pods"), subjects: [subject as ReturnType<typeof toUser>] };
      index.putClusterRoleBinding(`binding-${String(n)}`, binding);
    });
    const pages: number[] = [];
    const insight: AccessInsight = {
      ...unused,
      whoCan(action, page) {
        pages.push(page.limit);
        return whoCan(index, platform, action, page, createYielder());
      },
    };
    const chain = authorizationChain(["RBAC"], index, platform, {}, insight);
    const result = await allowedGroups(ask(who, "get"), chain, platform);
    return {
      names: result.allowedGroups?.map(({ name }) => name),
      more: result.moreAllowedGroups,
      result,
      pages,
    };
  }
  const unused = {
    explain: () => Promise.reject(new Error("not used")),
    namesFor: () => Promise.reject(new Error("not used")),
  };
  const numbered = (count: number) =>
    Array.from({ length: count }, (_, n) => toGroup(`team-${String(n).padStart(4, "0")}`));

  test("are those of bindings, with their grants", async () => {
    const { result } = await groupsFor([toGroup("developers"), toUser("bob"), toAccount("web", "shop")]);
    expect(result).toEqual({
      allowedGroups: [
        {
          name: "developers",
          grants: [
            {
              binding: { kind: "ClusterRoleBinding", name: "binding-0" },
              role: { kind: "ClusterRole", name: "pods" },
              rule: podRule(["get"]),
              ruleIndex: 0,
            },
          ],
        },
      ],
    });
  });

  test("are absent when no group is allowed the action", async () => {
    expect((await groupsFor([toUser("bob")])).result).toEqual({});
    expect((await groupsFor([])).result).toEqual({});
  });

  test("omit grants of a group that has many bindings, and say so", async () => {
    const { result } = await groupsFor(Array.from({ length: 200 }, () => toGroup("developers")));
    expect(result.allowedGroups).toHaveLength(1);
    expect(result.allowedGroups![0]!.moreGrants).toBe(true);
  });

  test("omit groups that such a user can't be added to", async () => {
    const closed = [
      "system:serviceaccounts",
      "system:serviceaccounts:shop",
      "system:unauthenticated",
      "system:masters",
    ];
    const { names } = await groupsFor([...closed, "system:serviceaccounts-x", "x"].map(toGroup));
    expect(names).toEqual(["system:serviceaccounts-x", "x"]);
  });

  test("are at most ten; more are reported", async () => {
    expect(await groupsFor(numbered(10))).toMatchObject({ names: { length: 10 }, more: undefined });
    const { names, more } = await groupsFor(numbered(11));
    expect(names).toEqual(numbered(10).map(({ name }) => name));
    expect(more).toBe(true);
  });

  test("are found on later pages, and reading ends at the first subject that is no group", async () => {
    const closed = Array.from({ length: 150 }, (_, n) => toGroup(`system:serviceaccounts:${String(n)}`));
    const found = await groupsFor([...closed, toGroup("team")]);
    expect(found.names).toEqual(["team"]);
    expect(found.pages).toEqual([100, 100]);
    const users = Array.from({ length: 300 }, (_, n) => toUser(`user-${String(n)}`));
    expect((await groupsFor([toGroup("team"), ...users])).pages).toEqual([100]);
  });

  test("are looked for in at most 1,000 subjects", async () => {
    const closed = Array.from({ length: 1_100 }, (_, n) =>
      toGroup(`system:serviceaccounts:${String(n).padStart(4, "0")}`),
    );
    const found = await groupsFor([...closed, toGroup("team")]);
    expect(found.names).toBeUndefined();
    expect(found.pages).toHaveLength(10);
  });

  test.each([
    [user("alice", "system:authenticated"), ["team"]],
    [user("alice", "developers"), undefined],
    [user("alice", "system:authenticated", "developers"), undefined],
    [user(""), undefined],
    [user("system:node:a"), undefined],
    [user("system:serviceaccount:shop:web"), undefined],
    [user("x-system:a"), ["team"]],
  ])("are named only for an ordinary user without groups: %j", async (who, expected) => {
    expect((await groupsFor([toGroup("team")], who)).names).toEqual(expected);
  });

  test("are absent without an authorizer that explains its decisions", async () => {
    const chain = authorizationChain(["RBAC"], new RbacIndex(platform), platform);
    expect(await allowedGroups(ask(user("alice"), "get"), chain, platform)).toEqual({});
  });

  test("continue after the last subject of a page", async () => {
    const pages: AllowedSubjects[] = [
      { subjects: [{ kind: "Group", name: "a", grants: [] }], more: true },
      { subjects: [{ kind: "Group", name: "b", grants: [] }], more: false },
    ];
    const after: unknown[] = [];
    const insight: AccessInsight = {
      ...unused,
      whoCan(_action, page) {
        after.push(page.after?.name);
        return pages[after.length - 1]!;
      },
    };
    const chain = authorizationChain(["RBAC"], new RbacIndex(platform), platform, {}, insight);
    const { allowedGroups: groups } = await allowedGroups(ask(user("alice"), "get"), chain, platform);
    expect(groups?.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(after).toEqual([undefined, "a"]);
  });
});
