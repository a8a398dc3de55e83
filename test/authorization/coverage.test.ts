import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CoverageIndex } from "../../src/authorization/rbac/coverage-index.ts";
import { compareRules, describeRules, missingRules } from "../../src/authorization/rbac/coverage.ts";
import { checkRoleWrite } from "../../src/authorization/rbac/escalation.ts";
import { completeRules, type PolicyRule, type Rule } from "../../src/authorization/rbac/policy.ts";
import { UrlSet } from "../../src/authorization/rbac/url-set.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { alice, grantedToAlice, podRule } from "./support.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";

/** Returns `count` values, made from the numbers 0 to `count - 1`. */
function many<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** Reference implementation: whether the rule `own` covers every permission of `wanted`. */
function covers(own: Rule, wanted: Rule): boolean {
  const has = (list: readonly string[], ...values: string[]) => values.some((value) => list.includes(value));
  const namesOk = own.resourceNames.length === 0 || wanted.resourceNames.length > 0;
  return (
    wanted.verbs.every((verb) => has(own.verbs, verb, "*")) &&
    wanted.apiGroups.every((group) => has(own.apiGroups, group, "*")) &&
    wanted.resources.every((resource) => has(own.resources, resource, "*", `*/${resource.split("/")[1]}`)) &&
    (wanted.resources.length === 0 ||
      (namesOk &&
        wanted.resourceNames.every(
          (name) => own.resourceNames.length === 0 || has(own.resourceNames, name),
        ))) &&
    wanted.nonResourceURLs.every((url) =>
      own.nonResourceURLs.some(
        (entry) => entry === url || (entry.endsWith("*") && url.startsWith(entry.replace(/\*+$/, ""))),
      ),
    )
  );
}

function singles(rule: Rule): Rule[] {
  const names = rule.resourceNames.length === 0 ? [[]] : rule.resourceNames.map((name) => [name]);
  const nothing = { apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };
  return rule.verbs.flatMap((verb) => [
    ...rule.apiGroups.flatMap((group) =>
      rule.resources.flatMap((resource) =>
        names.map((resourceNames) => ({
          ...nothing,
          verbs: [verb],
          apiGroups: [group],
          resources: [resource],
          resourceNames,
        })),
      ),
    ),
    ...rule.nonResourceURLs.map((url) => ({ ...nothing, verbs: [verb], nonResourceURLs: [url] })),
  ]);
}

const filler = many(17, (i) => `other${i}`);
/** A subset of the values; sometimes with filler values, so that the index uses its structure for long lists. */
const held = (...values: string[]) =>
  fc.tuple(fc.subarray(values), fc.nat(5)).map(([list, long]) => (long === 0 ? [...filler, ...list] : list));
const resources = ["pods", "pods/log", "nodes/log", "*/log", "*/scale", "*"];
const urls = ["/a", "/a/*", "/a/b", "/b/*", "*", "/a/b/*", "/a**", "", "/ab"];
const heldRule: fc.Arbitrary<Rule> = fc.record({
  verbs: held("get", "list", "*"),
  apiGroups: held("", "apps", "*"),
  resources: held(...resources),
  resourceNames: fc.oneof(fc.constant([]), held("x", "y", "")),
  nonResourceURLs: fc.oneof(fc.constant([]), held(...urls)),
});
const wantedRule: fc.Arbitrary<Rule> = fc.record({
  verbs: fc.subarray(["get", "list", "*"]),
  apiGroups: fc.subarray(["", "apps", "*"]),
  resources: fc.subarray([...resources, "nodes"]),
  resourceNames: fc.oneof(fc.constant([]), fc.subarray(["x", "y", ""])),
  nonResourceURLs: fc.oneof(fc.constant([]), fc.subarray(urls)),
});

describe("properties of rule coverage", () => {
  it("a permission is missing if and only if no held rule covers it", () => {
    let covered = 0;
    const property = fc.property(
      fc.array(heldRule, { maxLength: 6 }),
      fc.array(wantedRule, { maxLength: 1 }),
      (own, wanted) => {
        const expected = wanted
          .flatMap(singles)
          .filter((permission) => !own.some((rule) => covers(rule, permission)));
        if (expected.length === 0) covered++;
        const index = new CoverageIndex(own, 10_000);
        const lacking = wanted.flatMap(singles).filter((permission) => !index.coversPermission(permission));
        expect(lacking).toEqual(expected);
        expect(missingRules(own, wanted)).toEqual(expected.slice(0, 200));
      },
    );
    fc.assert(property, { numRuns: 3000 });
    expect(covered).toBeGreaterThan(100);
  });

  it("coversRule is true if and only if one held rule covers the whole rule", () => {
    let given = 0;
    const property = fc.property(fc.array(heldRule, { maxLength: 4 }), wantedRule, (own, wanted) => {
      fc.pre(singles(wanted).length > 0);
      const expected = own.some((rule) => covers(rule, wanted));
      if (expected) given++;
      expect(new CoverageIndex(own, 10_000).coversRule(wanted, Infinity)).toBe(expected);
    });
    fc.assert(property, { numRuns: 3000 });
    expect(given).toBeGreaterThan(50);
  });

  it("UrlSet covers a path if and only if one of its entries covers it", () => {
    const text = fc.string({ unit: fc.constantFrom("/", "a", "b", "\uffff"), maxLength: 5 });
    const entry = fc.tuple(text, fc.constantFrom("", "*", "**")).map((parts) => parts.join(""));
    const property = fc.property(fc.array(entry, { maxLength: 8 }), entry, (entries, path) => {
      const expected = entries.some(
        (one) => one === path || (one.endsWith("*") && path.startsWith(one.replace(/\*+$/, ""))),
      );
      expect(new UrlSet(entries).covers(path)).toBe(expected);
    });
    fc.assert(property, { numRuns: 2000 });
  });
});

describe("coverage of many rules", () => {
  const timed = (own: PolicyRule[], wanted: PolicyRule[]) => {
    const usedMs = cpuStopwatch();
    const coverage = compareRules(own, wanted);
    expect(usedMs()).toBeLessThan(1000);
    return coverage;
  };
  const all = { missing: [], undecided: false };
  const resource = (i: number, verbs = ["get"]) => podRule(verbs, { resources: [`r${i}`] });

  it("takes less than 1 s of CPU time for 5,000 held and 10,000 requested rules", () => {
    const own = many(5000, (i) => resource(i));
    const two = (i: number) => podRule(["get"], { resources: [`r${i % 5000}`, `r${(i * 7) % 5000}`] });
    expect(timed(own, own)).toEqual(all);
    expect(timed(own, many(10_000, two))).toEqual(all);
    const { missing } = timed(own, [...many(10_000, two), resource(5000)]);
    expect(describeRules(missing)).toEqual(['{APIGroups:[""], Resources:["r5000"], Verbs:["get"]}']);
  });

  it("takes less than 1 s of CPU time for 5,000 rules with names, paths or many verbs", () => {
    const names = many(5000, (i) => podRule(["get"], { resourceNames: [`n${i}`] }));
    expect(timed(names, names)).toEqual(all);
    const paths = (end: string) =>
      many(5000, (i) => ({ verbs: ["get"], nonResourceURLs: [`/${"a".repeat(i % 300)}/${i}/${end}`] }));
    expect(timed(paths("*"), paths("b"))).toEqual(all);
    const verbs = many(20, (i) => `v${i}`);
    const groups = many(20, (i) => `g${i}`);
    const wide = many(5000, (i) => ({ verbs, apiGroups: groups, resources: [`r${i}`] }));
    expect(timed(wide, wide)).toEqual(all);
  });

  it("stops after 200 missing permissions, also within one rule", () => {
    const wide = podRule(
      many(300, (i) => `v${i}`),
      { resources: many(300, (i) => `r${i}`) },
    );
    expect(timed([], [wide, wide]).missing).toHaveLength(200);
  });

  it("is undecided, with missing rules, when there are too many combinations", () => {
    const entries = (prefix: string, count: number) => many(count, (i) => `${prefix}${i}`);
    const wide = (names: number) =>
      many(2000, () => ({
        verbs: entries("v", 20),
        apiGroups: entries("g", 20),
        resources: entries("r", 20),
        resourceNames: entries("n", names),
      }));
    const { missing, undecided } = timed(wide(19), wide(20));
    expect(undecided).toBe(true);
    expect(missing.length).toBeGreaterThan(0);
  });

  it("a role write is forbidden with the message `cannot be decided` when coverage is undecided", async () => {
    const rule = (i: number): PolicyRule => ({
      verbs: many(20, (verb) => `v${verb}`),
      apiGroups: many(20, (group) => `g${group}`),
      resources: [...many(20, (number) => `r${number}`), `own${i}`],
    });
    const index = grantedToAlice(...many(1000, rule));
    const wanted = { ...rule(0), resources: ["r0", "own1", "own2"] };
    const write = { user: alice, namespace: "", name: "r", role: { rules: [wanted] }, live: undefined };
    await expect(
      checkRoleWrite(write, { authorizer: index, policy: index, vocabulary: platform }),
    ).rejects.toThrow(
      'is forbidden: cannot be decided: too many rules to tell whether user "alice" (groups=[]) holds these',
    );
  });
});

describe("error message about many missing rules", () => {
  it("has twenty lines and the number of further rules", () => {
    const rules = (count: number) =>
      completeRules(many(count, (i) => podRule(["get"], { resources: [`r${100 + i}`] })));
    expect(describeRules(rules(20))).toHaveLength(20);
    const lines = describeRules(rules(57));
    expect(lines).toHaveLength(21);
    expect(lines[0]).toBe('{APIGroups:[""], Resources:["r100"], Verbs:["get"]}');
    expect(lines[19]).toBe('{APIGroups:[""], Resources:["r119"], Verbs:["get"]}');
    expect(lines[20]).toBe("and 37 more");
    expect(describeRules(rules(200)).at(-1)).toBe("and at least 180 more");
  });

  it("contains at most twenty values of a list", () => {
    const wide = podRule(many(23, (i) => `v${i}`));
    const values = many(20, (i) => `"v${i}"`).join(" ");
    expect(describeRules(completeRules([wide]))).toEqual([
      `{APIGroups:[""], Resources:["pods"], Verbs:[${values} and 3 more]}`,
    ]);
  });
});
