import { expect, it } from "vitest";
import { policyRuleFaults, type PolicyRuleParts } from "../../src/kinds/rbac/policy-rule.ts";

const pods = { apiGroups: [""], resources: ["pods"] };
const rows: readonly (readonly [string, PolicyRuleParts, boolean, string[]])[] = [
  ["A-2.4-04 a valid resource rule", { verbs: ["get"], ...pods }, false, []],
  ["A-2.4-04 absent verbs", pods, false, ["verbs: verbs must contain at least one value"]],
  ["A-2.4-04 empty verbs", { verbs: [], ...pods }, true, ["verbs: verbs must contain at least one value"]],
  [
    "A-2.4-01 absent apiGroups",
    { verbs: ["get"], resources: ["pods"] },
    false,
    ["apiGroups: resource rules must supply at least one api group"],
  ],
  [
    "A-2.4-03 absent resources",
    { verbs: ["get"], apiGroups: [""] },
    false,
    ["resources: resource rules must supply at least one resource"],
  ],
  ["A-2.4-06 valid nonResourceURLs", { verbs: ["get"], nonResourceURLs: ["/a", "/a/*", "*"] }, false, []],
  [
    "A-2.4-07 nonResourceURLs in a Role",
    { verbs: ["get"], nonResourceURLs: ["/a"] },
    true,
    ["nonResourceURLs: namespaced rules cannot apply to non-resource URLs"],
  ],
  [
    "A-2.4-08 both nonResourceURLs and resources",
    { verbs: ["get"], ...pods, nonResourceURLs: ["/a"] },
    false,
    ["nonResourceURLs: rules cannot apply to both regular resources and non-resource URLs"],
  ],
  [
    "A-2.4-06 `*` elsewhere than as last segment",
    { verbs: ["get"], nonResourceURLs: ["/a*", "/*/b", "/a/**", "/a/*", "/a/*/"] },
    false,
    [0, 1, 2, 4].map((i) => `nonResourceURLs.${i}: \`*\` may only be the whole last segment of a path`),
  ],
];

it.each(rows)("validates a policy rule: %s", (_what, rule, namespaced, faults) => {
  expect(
    policyRuleFaults(rule, { namespaced }).map(({ path, message }) => `${path.join(".")}: ${message}`),
  ).toEqual(faults);
});
