import type { Attributes } from "../authorizer.ts";
import { isLong, listIncludes, longUrlSet } from "./long-lists.ts";
import type { Rule } from "./policy.ts";
import { urlCovers } from "./url-set.ts";

/**
 * The attributes of a request in the form in which rules are compared with it. `*` in the request is an ordinary value: only a
 * `*` in the rule matches it.
 */
export interface RuleQuery {
  /** False for a non-resource request. */
  readonly isResourceRequest: boolean;
  readonly verb: string;
  readonly group: string;
  /** Resource with subresource: `pods`, `pods/log`. */
  readonly resource: string;
  /** `*`/subresource; empty without a subresource. */
  readonly subresourceOfAll: string;
  readonly name: string;
  readonly path: string;
}

/** Converts the attributes of a request. */
export function ruleQuery(attributes: Attributes): RuleQuery {
  if (attributes.kind === "nonResource") {
    const { verb, path } = attributes;
    return { isResourceRequest: false, verb, group: "", resource: "", subresourceOfAll: "", name: "", path };
  }
  const { verb, group, resource, subresource, name } = attributes;
  const resourcePath = subresource === "" ? resource : `${resource}/${subresource}`;
  const subresourceOfAll = subresource === "" ? "" : `*/${subresource}`;
  return { isResourceRequest: true, verb, group, resource: resourcePath, subresourceOfAll, name, path: "" };
}

/** Whether the rule allows the request. */
export function ruleAllows(rule: Rule, query: RuleQuery): boolean {
  if (!query.isResourceRequest)
    return includesOrWildcard(rule.verbs, query.verb) && urlsCover(rule.nonResourceURLs, query.path);
  return (
    verbAndResourceMatch(rule, query) &&
    (rule.resourceNames.length === 0 || listIncludes(rule.resourceNames, query.name))
  );
}

/** Whether the rule allows a resource request, at least for some names. */
export function verbAndResourceMatch(rule: Rule, query: RuleQuery): boolean {
  return (
    includesOrWildcard(rule.verbs, query.verb) &&
    includesOrWildcard(rule.apiGroups, query.group) &&
    resourcesMatch(rule.resources, query)
  );
}

/** Whether a list of verbs, groups or resources contains the value or `*`. */
export function includesOrWildcard(entries: readonly string[], value: string): boolean {
  if (isLong(entries)) return listIncludes(entries, value) || listIncludes(entries, "*");
  for (const entry of entries) {
    if (entry === value || entry === "*") return true;
  }
  return false;
}

/** Whether the resources of a rule match the request. */
export function resourcesMatch(
  entries: readonly string[],
  { resource, subresourceOfAll }: RuleQuery,
): boolean {
  if (includesOrWildcard(entries, resource)) return true;
  return subresourceOfAll !== "" && listIncludes(entries, subresourceOfAll);
}

/** Whether the URL entries of a rule match a path. */
export function urlsCover(entries: readonly string[], path: string): boolean {
  const urlSet = longUrlSet(entries);
  return urlSet === undefined ? entries.some((entry) => urlCovers(entry, path)) : urlSet.covers(path);
}
