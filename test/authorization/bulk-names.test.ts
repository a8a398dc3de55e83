import { expect, test } from "vitest";
import type { Attributes } from "../../src/authorization/authorizer.ts";
import { AuthorizerChain, type ChainLink } from "../../src/authorization/authorizer-chain.ts";
import type { AccessInsight, AllowedNames } from "../../src/authorization/insight/insight.ts";
import { reviewInBulk, type Check } from "../../src/authorization/reviews/bulk.ts";
import { alice } from "./support.ts";

/** Reviews checks of alice with authorizers that have these lists of names; returns the results and whose names were listed. */
async function review(checks: readonly Check[], lists: readonly AllowedNames[], listNames = true) {
  const listed: [user: string, namespace: string, resource: string][] = [];
  const links = lists.map((names): ChainLink => {
    const namesFor: AccessInsight["namesFor"] = async (user, namespace) => async (attributes: Attributes) => {
      listed.push([user.name, namespace, (attributes as { resource: string }).resource]);
      return names;
    };
    return {
      name: "test",
      authorizer: {
        authorize: ({ verb }: Attributes) => ({
          verdict: verb === "list" ? "allow" : "noOpinion",
          reason: "",
          evaluationError: "",
        }),
      },
      resolver: undefined,
      insight: { namesFor } as AccessInsight,
    };
  });
  const results = await reviewInBulk({ checks, listNames }, alice, new AuthorizerChain(links));
  return { results, listed };
}

const getPods = { self: { resourceAttributes: { verb: "get", resource: "pods", namespace: "team-a" } } };
const named = (more: boolean, ...names: string[]): AllowedNames => ({ names, more });

test("a check that isn't allowed for all objects lists the names of all authorizers", async () => {
  const { results, listed } = await review([getPods], [named(false, "a"), named(false), named(true, "b")]);
  expect(results).toEqual([{ allowed: false, names: ["a", "b"], moreNames: true }]);
  expect(listed).toEqual(Array.from({ length: 3 }, () => ["alice", "team-a", "pods"]));
  expect((await review([getPods], [named(false, "a"), named(false, "b")])).results).toEqual([
    { allowed: false, names: ["a", "b"] },
  ]);
  expect((await review([getPods], [named(false)])).results).toEqual([{ allowed: false }]);
});

test.each<[string, Check, boolean, boolean]>([
  ["that doesn't request them", getPods, false, false],
  ["that is allowed", { self: { resourceAttributes: { verb: "list", resource: "pods" } } }, true, true],
  ["of a named object", { self: { resourceAttributes: { verb: "get", name: "a" } } }, true, false],
  ["of a path", { self: { nonResourceAttributes: { verb: "get", path: "/" } } }, true, false],
])("a check %s lists no names", async (_what, check, listNames, allowed) => {
  const { results, listed } = await review([check], [named(true, "a")], listNames);
  expect(results).toEqual([{ allowed }]);
  expect(listed).toEqual([]);
});

test("the names are those of the subject of a check", async () => {
  const { resourceAttributes } = getPods.self;
  const subject = { user: "bob", groups: ["dev"], resourceAttributes };
  const { results, listed } = await review([{ subject }, getPods], [named(false, "a")]);
  expect(results.map(({ names }) => names)).toEqual([["a"], ["a"]]);
  expect(listed.map(([user]) => user)).toEqual(["bob", "alice"]);
});
