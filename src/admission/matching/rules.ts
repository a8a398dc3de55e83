import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { Registry, Resource } from "../../resources/registry/registry.ts";

/**
 * Matching of requests by rules, as webhook configurations and validating policies write them (spec: conventions 2.9).
 *
 * Given rules, a match policy and what a request is about, {@link matchRules} answers in which version of the resource type
 * the request matches, or undefined. It is pure and depends on nothing but its arguments, so the answer may be kept for
 * as long as the rules and the registry stay the same; where no rule has `resourceNames`, also for every other name. Label
 * selectors are the other half of a match: see `selectors.ts`.
 *
 * Example: the rule `{ apiGroups: ["autoscaling"], apiVersions: ["v1"], resources: ["*"], operations: ["UPDATE"] }` and a PUT
 * of an `autoscaling/v2` HorizontalPodAutoscaler: `Exact` gives undefined; `Equivalent` gives `autoscaling/v1`, so the object
 * is to be converted to that version.
 */
export interface MatchRule {
  readonly operations?: readonly string[] | null | undefined;
  readonly apiGroups?: readonly string[] | null | undefined;
  readonly apiVersions?: readonly string[] | null | undefined;
  // `pods`, `pods/status`, `pods/*`, `*` (which leaves out subresources), `*/scale` or `*/*`.
  readonly resources?: readonly string[] | null | undefined;
  /** `Cluster`, `Namespaced`, or `*`; absent is `*`. */
  readonly scope?: string | null | undefined;
  /** Names of objects, of rules that have such; empty or absent matches every name. */
  readonly resourceNames?: readonly string[] | null | undefined;
}

/** `Equivalent` also matches rules for other versions, or groups, in which the same objects are served. */
export type MatchPolicy = "Exact" | "Equivalent";

/** What rules look at in a request. */
export interface MatchSubject {
  readonly operation: AdmissionRequest["operation"];
  /** The resource type in the version of the request. */
  readonly resource: Resource;
  /** Empty for the resource itself. */
  readonly subresource: string;
  /** Name of the object; empty for one that has none yet. */
  readonly name: string;
}

/**
 * The version of the resource type in which a request matches: that of the request itself if any rule matches it, else
 * (with `Equivalent`) the first that a rule matches, earlier rules first.
 */
export function matchRules(
  rules: readonly MatchRule[],
  policy: MatchPolicy,
  subject: MatchSubject,
  registry: Registry,
): Resource | undefined {
  for (const rule of rules) if (ruleMatches(rule, subject)) return subject.resource;
  if (policy === "Exact") return undefined;
  const others = equivalentsOf(subject, registry);
  if (others.length === 0) return undefined;
  for (const rule of rules) {
    const found = others.find((resource) => ruleMatches(rule, { ...subject, resource }));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether one rule matches a request in exactly the version that it names. */
export function ruleMatches(
  rule: MatchRule,
  { operation, resource, subresource, name }: MatchSubject,
): boolean {
  return (
    includes(rule.operations, operation) &&
    includes(rule.apiGroups, resource.group) &&
    includes(rule.apiVersions, resource.version) &&
    scopeMatches(rule.scope, resource.namespaced) &&
    (rule.resources ?? []).some((pattern) => resourceMatches(pattern, resource.name, subresource)) &&
    ((rule.resourceNames ?? []).length === 0 || rule.resourceNames!.includes(name))
  );
}

function includes(given: readonly string[] | null | undefined, value: string): boolean {
  const wanted = given ?? [];
  return wanted.includes("*") || wanted.includes(value);
}

function scopeMatches(scope: string | null | undefined, namespaced: boolean): boolean {
  if (scope === "Namespaced") return namespaced;
  return scope !== "Cluster" || !namespaced;
}

/** `pods` doesn't match subresources, nor does `*`. */
function resourceMatches(pattern: string, resource: string, subresource: string): boolean {
  const slash = pattern.indexOf("/");
  const wanted = slash < 0 ? pattern : pattern.slice(0, slash);
  const wantedBelow = slash < 0 ? "" : pattern.slice(slash + 1);
  return (wanted === "*" || wanted === resource) && (wantedBelow === "*" || wantedBelow === subresource);
}

/** The other resource types under which the same objects are served with this subresource. */
function equivalentsOf({ resource, subresource }: MatchSubject, registry: Registry): Resource[] {
  return registry
    .withSameObjects(resource)
    .filter(
      (one) =>
        one.apiVersion !== resource.apiVersion &&
        (subresource === "" || Object.hasOwn(one.kind.subresources, subresource)),
    );
}
