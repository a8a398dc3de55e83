import { listIncludes } from "../rbac/long-lists.ts";
import type { Rule } from "../rbac/policy.ts";
import { includesOrWildcard, resourcesMatch, urlsCover, type RuleQuery } from "../rbac/rule-match.ts";
import type { MissingPart, Part } from "./insight.ts";
import { firstEntries } from "./shown.ts";

/** The distance that each differing attribute adds. */
const weights: Readonly<Record<Part, number>> = {
  resourceName: 1,
  verb: 2,
  namespace: 2,
  apiGroup: 3,
  resource: 3,
  nonResourceURL: 3,
};

/** Distance if only the subresource differs: the rule has `pods/log`, the request is for `pods`. */
const otherSubresource = 2;

/** Distance of a grant in another namespace, in addition to that of its rule. */
export const namespaceDistance = weights.namespace;

/** Returns the distance between a rule and a request: 0 if the rule allows it, Infinity if the rule is unrelated. */
export function distanceOf(rule: Rule, query: RuleQuery): number {
  const verb = includesOrWildcard(rule.verbs, query.verb);
  if (!query.isResourceRequest) {
    if (rule.nonResourceURLs.length === 0) return Infinity;
    const covered = urlsCover(rule.nonResourceURLs, query.path);
    if (verb) return covered ? 0 : weights.nonResourceURL;
    return covered ? weights.verb : Infinity;
  }
  if (rule.resources.length === 0) return Infinity;
  const group = includesOrWildcard(rule.apiGroups, query.group);
  const resource = resourcesMatch(rule.resources, query);
  const name = namesMatch(rule, query);
  if (verb && group && resource) return name ? 0 : weights.resourceName;
  const related = !resource && namesRelated(rule.resources, query.resource);
  if (!resource && !related && !(verb && group)) return Infinity;
  return (
    (verb ? 0 : weights.verb) +
    (group ? 0 : weights.apiGroup) +
    (resource ? 0 : related ? otherSubresource : weights.resource) +
    (name ? 0 : weights.resourceName)
  );
}

/** Returns the attributes of the request that the rule doesn't allow. */
export function missingParts(rule: Rule, query: RuleQuery): MissingPart[] {
  const missing: MissingPart[] = [];
  const addMissing = (
    part: Part,
    requested: string,
    granted: readonly string[],
    description: string,
  ): void => {
    const first = firstEntries(granted, []);
    const more = granted.length > first.length ? `, and ${granted.length - first.length} more` : "";
    const listed = first.map((one) => JSON.stringify(one)).join(", ");
    missing.push({
      part,
      wanted: requested,
      given: first,
      message: `${description}; the rule gives ${listed || "none"}${more}`,
    });
  };
  if (!includesOrWildcard(rule.verbs, query.verb))
    addMissing("verb", query.verb, rule.verbs, `the verb is ${quoted(query.verb)}`);
  if (!query.isResourceRequest) {
    if (!urlsCover(rule.nonResourceURLs, query.path))
      addMissing("nonResourceURL", query.path, rule.nonResourceURLs, `the path is ${quoted(query.path)}`);
    return missing;
  }
  if (!includesOrWildcard(rule.apiGroups, query.group))
    addMissing("apiGroup", query.group, rule.apiGroups, `the API group is ${quoted(query.group)}`);
  if (!resourcesMatch(rule.resources, query))
    addMissing("resource", query.resource, rule.resources, `the resource is ${quoted(query.resource)}`);
  if (!namesMatch(rule, query)) {
    const description = query.name === "" ? "no name is given" : `the name is ${quoted(query.name)}`;
    addMissing("resourceName", query.name, rule.resourceNames, description);
  }
  return missing;
}

/** Describes that the binding is in another namespace. `requested` is empty for a request in the whole cluster. */
export function missingNamespace(requested: string, granted: string, query: RuleQuery): MissingPart {
  const base = { part: "namespace", wanted: requested, given: [granted] } as const;
  const limit = `the binding holds in the namespace ${quoted(granted)} only`;
  if (!query.isResourceRequest)
    return { ...base, message: `URL paths are granted by cluster role bindings; ${limit}` };
  const description =
    requested === ""
      ? "the whole cluster, or every namespace, is asked for"
      : `the namespace is ${quoted(requested)}`;
  return { ...base, message: `${description}; ${limit}` };
}

function namesMatch({ resourceNames }: Rule, { name }: RuleQuery): boolean {
  return resourceNames.length === 0 || listIncludes(resourceNames, name);
}

/** Whether a list contains the resource with another or no subresource. Long lists are only searched for the resource without subresource. */
function namesRelated(resources: readonly string[], requested: string): boolean {
  const [base] = requested.split("/", 1) as [string];
  if (listIncludes(resources, base)) return true;
  return resources.length <= 20 && resources.some((entry) => entry.startsWith(`${base}/`));
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
