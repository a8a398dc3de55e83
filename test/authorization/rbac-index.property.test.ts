import * as fc from "fast-check";
import { expect, it } from "vitest";
import { effort } from "../support/effort.ts";
import { RbacIndex } from "../../src/authorization/rbac/rbac-index.ts";
import { tableLimits } from "../../src/authorization/rbac/table-budget.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { apply, namespaces, ReferenceRbac, question, step, who, type Step } from "./policy-arbitrary.ts";

/** Limits of the tables: the defaults, and small ones, with which rules are indexed later or compared one by one. */
const limits = fc.oneof(
  fc.constant(tableLimits),
  fc.record({ perRule: fc.nat(12), perTurn: fc.integer({ min: 1, max: 12 }), total: fc.nat(40) }),
);

/** Roles and bindings that give one user and one group enough roles for the index to build a table. */
const crowd: readonly Step[] = (["r1", "r2", "r3", "r4", "r5", "r6", "r7"] as const).flatMap((name, i) => [
  { do: "putRole", ns: "", name, rules: [] },
  {
    do: "putBinding",
    ns: i % 2 === 0 ? "" : "a",
    name: `b${i}`,
    kind: "ClusterRole",
    role: name,
    subjects: [{ kind: "User", name: "u1" }],
  },
  {
    do: "putBinding",
    ns: "b",
    name: `b${i}`,
    kind: "ClusterRole",
    role: name,
    subjects: [{ kind: "Group", name: "g1" }],
  },
]);

it("A-5-02 the index decides as the reference implementation after every change", () => {
  const run = fc.array(fc.tuple(step, fc.array(question, { minLength: 1, maxLength: 4 })), {
    maxLength: 60,
    size: "max",
  });
  const property = fc.property(run, fc.boolean(), limits, (steps, crowded, narrow) => {
    const index = new RbacIndex(platform, narrow);
    const reference = new ReferenceRbac();
    for (const done of crowded ? crowd : []) apply(index, reference, done);
    for (const [done, questions] of steps) {
      apply(index, reference, done);
      for (const asked of questions) {
        const { verdict, evaluationError } = index.authorize(asked);
        const actual = { allowed: verdict === "allow", failed: evaluationError !== "" };
        expect(actual).toEqual(reference.decide(asked));
      }
    }
  });
  fc.assert(property, { numRuns: effort(150, 400) });
});

it("A-2.2-38 every rule of a rules list is allowed by the authorizer", () => {
  const run = fc.tuple(fc.array(step, { maxLength: 60, size: "max" }), who, fc.constantFrom(...namespaces));
  const property = fc.property(run, ([steps, user, namespace]) => {
    const index = new RbacIndex(platform);
    for (const done of steps) apply(index, new ReferenceRbac(), done);
    const { resourceRules, nonResourceRules } = index.rulesFor(user, namespace);
    for (const { verbs, apiGroups, resources, resourceNames } of resourceRules) {
      for (const verb of verbs) {
        const [resource = "", subresource = ""] = resources[0]!.split("/");
        const question = { kind: "resource", user, verb, group: apiGroups[0]!, version: "v1" } as const;
        const name = resourceNames[0] ?? "";
        expect(index.authorize({ ...question, resource, subresource, namespace, name }).verdict).toBe(
          "allow",
        );
      }
    }
    for (const { verbs, nonResourceURLs } of nonResourceRules) {
      const path = nonResourceURLs[0]!.replace(/\*+$/, "below");
      expect(index.authorize({ kind: "nonResource", user, verb: verbs[0]!, path }).verdict).toBe("allow");
    }
  });
  fc.assert(property, { numRuns: 100 });
});
