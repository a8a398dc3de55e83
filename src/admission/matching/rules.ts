import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { Registry, Resource } from "../../resources/registry/registry.ts";

/**
 * A rule of a webhook configuration or a validating policy (spec: conventions 2.9). {@link matchRules} evaluates the rules;
 * `selectors.ts` evaluates label selectors.
 */
export interface MatchRule {
  readonly operations?: readonly string[] | null | undefined;
  readonly apiGroups?: readonly string[] | null | undefined;
  readonly apiVersions?: readonly string[] | null | undefined;
  // `pods`, `pods/status`, `pods/*`, `*` (without subresources), `*/scale` or `*/*`.
  readonly resources?: readonly string[] | null | undefined;
  /** `Cluster`, `Namespaced`, or `*`; absent is `*`. */
  readonly scope?: string | null | undefined;
  /** Names of objects, in the rules of policies; empty or absent matches every name. */
  readonly resourceNames?: readonly string[] | null | undefined;
}

/** `Equivalent` also matches rules for other groups or versions that serve the same objects. */
export type MatchPolicy = "Exact" | "Equivalent";

/** The attributes of a request that rules compare. */
export interface MatchSubject {
  readonly operation: AdmissionRequest["operation"];
  /** The resource type in the version of the request. */
  readonly resource: Resource;
  /** Empty for the resource itself. */
  readonly subresource: string;
  /** Name of the object; empty if it has none yet. */
  readonly name: string;
}

/**
 * Returns the version of the resource type in which a request matches; undefined if it doesn't match. This is the version of the
 * request if any rule matches it, otherwise (with `Equivalent`) the first other version that a rule matches, in the order of the
 * rules. The result depends only on the arguments; callers may cache it.
 *
 * Example: the rule `{ apiGroups: ["autoscaling"], apiVersions: ["v1"], resources: ["*"], operations: ["UPDATE"] }` and a PUT of
 * an `autoscaling/v2` HorizontalPodAutoscaler: undefined for `Exact`; `autoscaling/v1` for `Equivalent`, so the object has to be
 * converted.
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
    const resource = others.find((other) => ruleMatches(rule, { ...subject, resource: other }));
    if (resource !== undefined) return resource;
  }
  return undefined;
}

/** Whether a rule matches a request in the version of the request. */
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

function includes(list: readonly string[] | null | undefined, value: string): boolean {
  return list?.includes("*") === true || list?.includes(value) === true;
}

function scopeMatches(scope: string | null | undefined, namespaced: boolean): boolean {
  if (scope === "Namespaced") return namespaced;
  return scope !== "Cluster" || !namespaced;
}

/** `pods` and `*` don't match subresources. */
function resourceMatches(pattern: string, resource: string, subresource: string): boolean {
  const slash = pattern.indexOf("/");
  const type = slash < 0 ? pattern : pattern.slice(0, slash);
  const part = slash < 0 ? "" : pattern.slice(slash + 1);
  return (type === "*" || type === resource) && (part === "*" || part === subresource);
}

/** The other resource types that serve the same objects with this subresource. */
function equivalentsOf({ resource, subresource }: MatchSubject, registry: Registry): Resource[] {
  return registry
    .withSameObjects(resource)
    .filter(
      (other) =>
        other.apiVersion !== resource.apiVersion &&
        (subresource === "" || Object.hasOwn(other.kind.subresources, subresource)),
    );
}
