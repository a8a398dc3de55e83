import type { Attributes } from "../authorizer.ts";
import type { Rule } from "./policy.ts";

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
  if (!hasOrAll(rule.verbs, query.verb)) return false;
  if (!query.aboutResource) return rule.nonResourceURLs.some((url) => urlCovers(url, query.path));
  return (
    hasOrAll(rule.apiGroups, query.group) &&
    resourcesMatch(rule.resources, query) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(query.name))
  );
}

/** Whether a rule's URL entry, exact or ending in `*`, covers a path or another entry. */
export function urlCovers(entry: string, path: string): boolean {
  if (entry === path) return true;
  const prefix = urlPrefix(entry);
  return prefix !== undefined && path.startsWith(prefix);
}

/** What stands before the closing `*` of a URL entry; undefined for an exact entry. */
export function urlPrefix(entry: string): string | undefined {
  let end = entry.length;
  while (end > 0 && entry[end - 1] === "*") end--;
  return end === entry.length ? undefined : entry.slice(0, end);
}

function hasOrAll(entries: readonly string[], value: string): boolean {
  for (const entry of entries) {
    if (entry === value || entry === "*") return true;
  }
  return false;
}

function resourcesMatch(entries: readonly string[], query: RuleQuery): boolean {
  for (const entry of entries) {
    if (entry === "*" || entry === query.resource) return true;
    if (query.subresourceOfAll !== "" && entry === query.subresourceOfAll) return true;
  }
  return false;
}
