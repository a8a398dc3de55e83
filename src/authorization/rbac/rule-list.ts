import type { NonResourceRule, ResourceRule } from "../authorizer.ts";
import type { PolicyRule } from "./policy.ts";

/**
 * Held rules as a rules review lists them. There `*` among resource names stands for every name, which a role's rule
 * never grants: it means the object called `*`. So the `*` is left out, and with it a rule that has no other name;
 * whatever is listed is granted (spec: access review 2.2).
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
