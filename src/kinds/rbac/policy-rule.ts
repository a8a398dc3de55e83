import { struct } from "./v1.ts";
import { field, list, string, type Static } from "../../schema/types.ts";
import type { FieldReport } from "../../schema/faults.ts";

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

/** The members of a policy rule that are validated. */
export interface PolicyRuleParts {
  readonly verbs?: readonly string[] | null | undefined;
  readonly apiGroups?: readonly string[] | null | undefined;
  readonly resources?: readonly string[] | null | undefined;
  readonly resourceNames?: readonly string[] | null | undefined;
  readonly nonResourceURLs?: readonly string[] | null | undefined;
}

/** A fault of a rule. `path` is relative to the rule; it is empty for a fault of the rule as a whole. */
interface PolicyRuleFault {
  readonly path: readonly (string | number)[];
  readonly kind: "required" | "invalid";
  readonly message: string;
  /** The invalid value; not used if a required value is missing. */
  readonly value: unknown;
}

/**
 * Validates a rule of a role (spec: access review 2.4): it has verbs, and names either resources of API groups or URL
 * paths, the latter only in cluster roles. `*` in a path must be the whole last segment.
 */
export function policyRuleFaults(
  rule: PolicyRuleParts,
  role: { readonly namespaced: boolean },
): PolicyRuleFault[] {
  const faults: PolicyRuleFault[] = [];
  if (isEmpty(rule.verbs)) faults.push(required("verbs", "verbs must contain at least one value"));
  if (isEmpty(rule.nonResourceURLs)) {
    if (isEmpty(rule.apiGroups)) {
      faults.push(required("apiGroups", "resource rules must supply at least one api group"));
    }
    if (isEmpty(rule.resources)) {
      faults.push(required("resources", "resource rules must supply at least one resource"));
    }
    return faults;
  }
  const urls = rule.nonResourceURLs!;
  if (role.namespaced) {
    faults.push(invalid(["nonResourceURLs"], urls, "namespaced rules cannot apply to non-resource URLs"));
  }
  if (!isEmpty(rule.apiGroups) || !isEmpty(rule.resources) || !isEmpty(rule.resourceNames)) {
    const message = "rules cannot apply to both regular resources and non-resource URLs";
    faults.push(invalid(["nonResourceURLs"], urls, message));
  }
  urls.forEach((url, index) => {
    if (!starIsLastSegment(url)) {
      faults.push(
        invalid(["nonResourceURLs", index], url, "`*` may only be the whole last segment of a path"),
      );
    }
  });
  return faults;
}

/** Returns true if a path has no `*`, or only as its whole last segment. */
function starIsLastSegment(url: string): boolean {
  const star = url.indexOf("*");
  if (star === -1) return true;
  return star === url.length - 1 && (star === 0 || url[star - 1] === "/");
}

function isEmpty(list: readonly string[] | null | undefined): boolean {
  return list === undefined || list === null || list.length === 0;
}

function required(field: string, message: string): PolicyRuleFault {
  return { path: [field], kind: "required", message, value: undefined };
}

function invalid(path: readonly (string | number)[], value: unknown, message: string): PolicyRuleFault {
  return { path, kind: "invalid", message, value };
}
