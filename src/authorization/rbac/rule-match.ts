import type { Attributes } from "../authorizer.ts";
import { isLong, listHas, manyUrls } from "./long-lists.ts";
import type { Rule } from "./policy.ts";
import { urlCovers } from "./url-entry.ts";

/**
 * A question in the form in which rules are compared with it. `*` in the question is a value like any other: only a
 * rule's own `*` matches it.
 */
export interface RuleQuery {
  /** False for a question about a URL path. */
  readonly aboutResource: boolean;
  readonly verb: string;
  readonly group: string;
  /** With its subresource: `pods`, `pods/log`. */
  readonly resource: string;
  /** The rule entry that is `*`, a slash and the subresource; empty when the question names no subresource. */
  readonly subresourceOfAll: string;
  readonly name: string;
  readonly path: string;
}

/** The question that a request's attributes put. */
export function ruleQuery(attributes: Attributes): RuleQuery {
  if (attributes.kind === "nonResource") {
    const { verb, path } = attributes;
    return { aboutResource: false, verb, group: "", resource: "", subresourceOfAll: "", name: "", path };
  }
  const { verb, group, resource, subresource, name } = attributes;
  const whole = subresource === "" ? resource : `${resource}/${subresource}`;
  const subresourceOfAll = subresource === "" ? "" : `*/${subresource}`;
  return { aboutResource: true, verb, group, resource: whole, subresourceOfAll, name, path: "" };
}

/** Whether one rule alone answers the question with yes. */
export function ruleAllows(rule: Rule, query: RuleQuery): boolean {
  if (!query.aboutResource)
    return hasOrAll(rule.verbs, query.verb) && urlsCover(rule.nonResourceURLs, query.path);
  return (
    verbAndResourceMatch(rule, query) &&
    (rule.resourceNames.length === 0 || listHas(rule.resourceNames, query.name))
  );
}

/** Whether a rule answers a question about a resource with yes, at least for some names. */
export function verbAndResourceMatch(rule: Rule, query: RuleQuery): boolean {
  return (
    hasOrAll(rule.verbs, query.verb) &&
    hasOrAll(rule.apiGroups, query.group) &&
    resourcesMatch(rule.resources, query)
  );
}

/** Whether a list of verbs, groups or resources holds a value, or `*`. */
export function hasOrAll(entries: readonly string[], value: string): boolean {
  if (isLong(entries)) return listHas(entries, value) || listHas(entries, "*");
  for (const entry of entries) {
    if (entry === value || entry === "*") return true;
  }
  return false;
}

/** Whether a rule's resources hold the one that is asked about. */
export function resourcesMatch(
  entries: readonly string[],
  { resource, subresourceOfAll }: RuleQuery,
): boolean {
  if (hasOrAll(entries, resource)) return true;
  return subresourceOfAll !== "" && listHas(entries, subresourceOfAll);
}

/** Whether a rule's URL entries cover a path. */
export function urlsCover(entries: readonly string[], path: string): boolean {
  const many = manyUrls(entries);
  return many === undefined ? entries.some((entry) => urlCovers(entry, path)) : many.covers(path);
}
