import { describe, expect, it } from "vitest";
import { MatchIndex } from "../../../src/admission/matching/match-index.ts";
import { matchRules, ruleMatches, type MatchRule } from "../../../src/admission/matching/rules.ts";
import { builtInKinds } from "../../../src/kinds/all.ts";
import { Registry } from "../../../src/resources/registry/registry.ts";
import { kubernetes } from "../../../src/vocabulary/kubernetes.ts";

const registry = new Registry(builtInKinds, kubernetes, () => true);
const type = (group: string, version: string, resource: string) => registry.find(group, version, resource)!;
const pods = type("", "v1", "pods");
const nodes = type("", "v1", "nodes");
const deployments = type("apps", "v1", "deployments");
const subject = (changes: object = {}) =>
  ({ operation: "CREATE", resource: pods, subresource: "", name: "a", ...changes }) as const;
const rule = (changes: Partial<MatchRule> = {}): MatchRule => ({
  operations: ["CREATE"],
  apiGroups: [""],
  apiVersions: ["v1"],
  resources: ["pods"],
  ...changes,
});

describe("rule matching", () => {
  it.each<[string, Partial<MatchRule>, object, boolean]>([
    ["C-2.9-04 equal operation, group, version and resource match", {}, {}, true],
    ["another operation doesn't match", {}, { operation: "UPDATE" }, false],
    ["operation `*` matches every operation", { operations: ["*"] }, { operation: "CONNECT" }, true],
    ["an empty list of operations matches nothing", { operations: [] }, {}, false],
    ["C-2.9-04 another group doesn't match", { apiGroups: ["apps"] }, {}, false],
    ["group `*` matches every group", { apiGroups: ["*"] }, {}, true],
    ["C-2.9-04 another version doesn't match", { apiVersions: ["v1beta1"] }, {}, false],
    ["version `*` matches every version", { apiVersions: ["*"] }, {}, true],
    ["C-2.9-04 another resource doesn't match", { resources: ["services"] }, {}, false],
    ["resource `*` matches every resource", { resources: ["*"] }, {}, true],
    ["a resource doesn't match its subresources", {}, { subresource: "status" }, false],
    ["resource `*` doesn't match subresources", { resources: ["*"] }, { subresource: "status" }, false],
    ["a subresource matches itself", { resources: ["pods/status"] }, { subresource: "status" }, true],
    ["a subresource doesn't match its resource", { resources: ["pods/status"] }, {}, false],
    ["`pods/*` matches every subresource of pods", { resources: ["pods/*"] }, { subresource: "exec" }, true],
    ["`pods/*` matches pods", { resources: ["pods/*"] }, {}, true],
    [
      "`*/status` matches status of every resource",
      { resources: ["*/status"] },
      { subresource: "status" },
      true,
    ],
    ["`*/*` matches resources and subresources", { resources: ["*/*"] }, { subresource: "exec" }, true],
    ["C-2.9-05 scope Namespaced matches namespaced objects", { scope: "Namespaced" }, {}, true],
    ["C-2.9-05 scope Cluster doesn't match namespaced objects", { scope: "Cluster" }, {}, false],
    [
      "C-2.9-05 scope Namespaced doesn't match cluster-wide objects",
      { scope: "Namespaced", resources: ["nodes"] },
      { resource: nodes },
      false,
    ],
    [
      "C-2.9-05 scope Cluster matches cluster-wide objects",
      { scope: "Cluster", resources: ["nodes"] },
      { resource: nodes },
      true,
    ],
    ["C-2.9-05 scope `*` matches both", { scope: "*" }, {}, true],
    ["a listed object name matches", { resourceNames: ["b", "a"] }, {}, true],
    ["another name doesn't match", { resourceNames: ["b"] }, {}, false],
  ])("%s", (_, given, changes, expected) => {
    expect(ruleMatches(rule(given), subject(changes))).toBe(expected);
  });
});

describe("the match policy", () => {
  const scalers = (version: string) => type("autoscaling", version, "horizontalpodautoscalers");
  const asked = subject({ resource: scalers("v2") });
  const ofVersion1 = rule({
    apiGroups: ["autoscaling"],
    apiVersions: ["v1"],
    resources: ["horizontalpodautoscalers"],
  });

  it("Exact matches only the version of the request", () => {
    expect(matchRules([ofVersion1], "Exact", asked, registry)).toBeUndefined();
    const both = { ...ofVersion1, apiVersions: ["v1", "v2"] };
    expect(matchRules([both], "Exact", asked, registry)).toBe(scalers("v2"));
  });

  it("Equivalent matches the rule's version when it serves the same objects", () => {
    expect(matchRules([ofVersion1], "Equivalent", asked, registry)).toBe(scalers("v1"));
  });

  it("Equivalent prefers the version of the request when a later rule names it", () => {
    const ofVersion2 = { ...ofVersion1, apiVersions: ["v2"] };
    expect(matchRules([ofVersion1, ofVersion2], "Equivalent", asked, registry)).toBe(scalers("v2"));
  });

  it("Equivalent matches another group that serves the same objects", () => {
    const events = subject({ resource: type("events.k8s.io", "v1", "events") });
    expect(matchRules([rule({ resources: ["events"] })], "Equivalent", events, registry)).toBe(
      type("", "v1", "events"),
    );
  });

  it("Equivalent matches nothing when no rule names a served version", () => {
    const other = { ...ofVersion1, apiVersions: ["v3"] };
    expect(matchRules([other], "Equivalent", asked, registry)).toBeUndefined();
  });
});

describe("the index", () => {
  it("returns the matches of each type and subresource in input order", () => {
    const one = { name: "one", rules: [rule()], matchPolicy: "Exact" } as const;
    const other = {
      name: "other",
      rules: [rule({ apiGroups: ["apps"], resources: ["deployments", "deployments/scale"] }), rule()],
      matchPolicy: "Equivalent",
    } as const;
    const index = new MatchIndex([other, one], registry);
    const names = (changes: object) => index.matching(subject(changes)).map(({ matched }) => matched.name);
    expect(names({})).toEqual(["other", "one"]);
    expect(names({ resource: deployments })).toEqual(["other"]);
    expect(names({ resource: deployments, subresource: "scale" })).toEqual(["other"]);
    expect(names({ resource: deployments, subresource: "status" })).toEqual([]);
    expect(names({ operation: "DELETE" })).toEqual([]);
  });

  it("returns the same cached result when the subject is repeated", () => {
    const index = new MatchIndex([{ rules: [rule()], matchPolicy: "Exact" }], registry);
    expect(index.matching(subject())).toBe(index.matching(subject()));
  });
});
