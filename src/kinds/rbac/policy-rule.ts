import { struct } from "./v1.ts";
import { field, list, string, type Static } from "../../schema/types.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { policyRuleFaults } from "./policy-rule-faults.ts";

/** Verbs allowed on resources, or on URL paths (spec: access review 2.4). */
export const PolicyRule = struct("PolicyRule", "Verbs allowed on resources, or on URL paths.", {
  verbs: field(1, list(string), "Verbs that the rule allows; `*` matches every verb.").required().atomic(),
  apiGroups: field(
    2,
    list(string),
    "API groups of the resources; empty is the core group, and `*` matches every group.",
  ).atomic(),
  resources: field(
    3,
    list(string),
    "Resource types; `*` matches every type, and `*/x` the subresource x of every type.",
  ).atomic(),
  resourceNames: field(
    4,
    list(string),
    "Names of the objects to which the rule is limited; empty matches all.",
  ).atomic(),
  nonResourceURLs: field(
    5,
    list(string),
    "URL paths; the last segment may be `*`. Only effective through a ClusterRoleBinding.",
  ).atomic(),
});
export type PolicyRule = Static<typeof PolicyRule>;

/** Checks every rule of a role. */
export function checkRules(
  rules: readonly PolicyRule[] | null | undefined,
  report: FieldReport,
  role: { readonly namespaced: boolean },
): void {
  for (const [index, rule] of (rules ?? []).entries()) {
    if (report.full) return;
    for (const fault of policyRuleFaults(rule, role)) {
      const faultReport = report.at(index, ...fault.path);
      if (fault.kind === "required") faultReport.required(fault.message);
      else faultReport.invalid(fault.value, fault.message);
    }
  }
}
