import type { NonResourceRule, ResourceRule } from "../authorizer.ts";
import type { PolicyRule } from "./policy.ts";

/**
 * Converts rules to the lists of a SelfSubjectRulesReview. In a review, the resource name `*` means all names; in a role it is
 * the object with the name `*`. So this removes the name `*`, and rules without another name: the lists contain nothing that
 * isn't granted (spec: access review 2.2).
 */
export function listRules(rules: readonly PolicyRule[]): {
  resourceRules: ResourceRule[];
  nonResourceRules: NonResourceRule[];
} {
  const resourceRules: ResourceRule[] = [];
  const nonResourceRules: NonResourceRule[] = [];
  for (const rule of rules) {
    const verbs = rule.verbs ?? [];
    const resources = rule.resources ?? [];
    const nonResourceURLs = rule.nonResourceURLs ?? [];
    const names = rule.resourceNames ?? [];
    const resourceNames = names.filter((name) => name !== "*");
    if (resources.length > 0 && (names.length === 0 || resourceNames.length > 0)) {
      resourceRules.push({ verbs, apiGroups: rule.apiGroups ?? [], resources, resourceNames });
    }
    if (nonResourceURLs.length > 0) nonResourceRules.push({ verbs, nonResourceURLs });
  }
  return { resourceRules, nonResourceRules };
}
