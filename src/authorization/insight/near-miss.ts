import { listHas } from "../rbac/long-lists.ts";
import type { Rule } from "../rbac/policy.ts";
import { hasOrAll, resourcesMatch, urlsCover, type RuleQuery } from "../rbac/rule-match.ts";
import type { MissingPart, Part } from "./insight.ts";
import { firstEntries } from "./shown.ts";

/** How far each missing part keeps a grant from what was asked. */
const weights: Readonly<Record<Part, number>> = {
  resourceName: 1,
  verb: 2,
  namespace: 2,
  apiGroup: 3,
  resource: 3,
  nonResourceURL: 3,
};

/** The same resource in another part: `pods/log` where `pods` was asked for. */
const otherPart = 2;

/** What a grant in another namespace lacks besides what its rule lacks. */
export const namespaceDistance = weights.namespace;

/** How near a rule comes to a question: 0 allows it, Infinity has nothing to do with it. */
export function distanceOf(rule: Rule, query: RuleQuery): number {
  const verb = hasOrAll(rule.verbs, query.verb);
  if (!query.aboutResource) {
    if (rule.nonResourceURLs.length === 0) return Infinity;
    const covered = urlsCover(rule.nonResourceURLs, query.path);
    if (verb) return covered ? 0 : weights.nonResourceURL;
    return covered ? weights.verb : Infinity;
  }
  if (rule.resources.length === 0) return Infinity;
  const group = hasOrAll(rule.apiGroups, query.group);
  const resource = resourcesMatch(rule.resources, query);
  const name = namesMatch(rule, query);
  if (verb && group && resource) return name ? 0 : weights.resourceName;
  const related = !resource && namesRelated(rule.resources, query.resource);
  if (!resource && !related && !(verb && group)) return Infinity;
  return (
    (verb ? 0 : weights.verb) +
    (group ? 0 : weights.apiGroup) +
    (resource ? 0 : related ? otherPart : weights.resource) +
    (name ? 0 : weights.resourceName)
  );
}

/** What a rule lacks to answer a question with yes. */
export function missingParts(rule: Rule, query: RuleQuery): MissingPart[] {
  const missing: MissingPart[] = [];
  const lacks = (part: Part, wanted: string, given: readonly string[], what: string): void => {
    const first = firstEntries(given, []);
    const more = given.length > first.length ? `, and ${given.length - first.length} more` : "";
    const listed = first.map((one) => JSON.stringify(one)).join(", ");
    missing.push({
      part,
      wanted,
      given: first,
      message: `${what}; the rule gives ${listed || "none"}${more}`,
    });
  };
  if (!hasOrAll(rule.verbs, query.verb))
    lacks("verb", query.verb, rule.verbs, `the verb is ${quoted(query.verb)}`);
  if (!query.aboutResource) {
    if (!urlsCover(rule.nonResourceURLs, query.path))
      lacks("nonResourceURL", query.path, rule.nonResourceURLs, `the path is ${quoted(query.path)}`);
    return missing;
  }
  if (!hasOrAll(rule.apiGroups, query.group))
    lacks("apiGroup", query.group, rule.apiGroups, `the API group is ${quoted(query.group)}`);
  if (!resourcesMatch(rule.resources, query))
    lacks("resource", query.resource, rule.resources, `the resource is ${quoted(query.resource)}`);
  if (!namesMatch(rule, query)) {
    const what = query.name === "" ? "no name is given" : `the name is ${quoted(query.name)}`;
    lacks("resourceName", query.name, rule.resourceNames, what);
  }
  return missing;
}

/** What a binding in another namespace lacks. */
export function missingNamespace(asked: string, given: string, query: RuleQuery): MissingPart {
  const base = { part: "namespace", wanted: asked, given: [given] } as const;
  const holds = `the binding holds in the namespace ${quoted(given)} only`;
  if (!query.aboutResource)
    return { ...base, message: `URL paths are granted by cluster role bindings; ${holds}` };
  const what =
    asked === ""
      ? "the whole cluster, or every namespace, is asked for"
      : `the namespace is ${quoted(asked)}`;
  return { ...base, message: `${what}; ${holds}` };
}

function namesMatch({ resourceNames }: Rule, { name }: RuleQuery): boolean {
  return resourceNames.length === 0 || listHas(resourceNames, name);
}

/** Whether a list holds the same resource in another part; of long lists only the whole resource is looked for. */
function namesRelated(resources: readonly string[], asked: string): boolean {
  const [base] = asked.split("/", 1) as [string];
  if (listHas(resources, base)) return true;
  return resources.length <= 20 && resources.some((entry) => entry.startsWith(`${base}/`));
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
