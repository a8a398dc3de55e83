import { completeRules, type PolicyRule, type Rule } from "./policy.ts";
import { urlCovers } from "./rule-match.ts";

/**
 * Single permissions that one comparison breaks rules into. A rule with more combinations than are left is compared as a
 * whole, and counts as not covered unless one held rule covers all of it.
 */
const maxPermissions = 20_000;

/** So many missing permissions are enough to refuse and to say why. */
const maxMissing = 200;

/**
 * What of the `wanted` rules the `held` rules don't give, broken into single permissions (one verb, one resource of one
 * group with at most one name, or one URL path). Empty when everything is covered; it may end early
 * when much is missing.
 */
export function missingRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): Rule[] {
  const owned = completeRules(held);
  const missing: Rule[] = [];
  let left = maxPermissions;
  for (const rule of completeRules(wanted)) {
    if (missing.length >= maxMissing) break;
    if (owned.some((own) => covers(own, rule))) continue;
    const permissions = countPermissions(rule);
    if (permissions > left) {
      missing.push(rule);
      continue;
    }
    left -= permissions;
    for (const permission of permissionsOf(rule)) {
      if (!owned.some((own) => covers(own, permission))) missing.push(permission);
    }
  }
  return missing;
}

/** Rules as a message lists them: permissions that differ in the verb only are one line; lines are sorted. */
export function describeRules(rules: readonly Rule[]): string[] {
  const byTarget = new Map<string, { target: Rule; verbs: Set<string> }>();
  for (const rule of rules) {
    const { verbs, ...target } = rule;
    const key = JSON.stringify(target);
    const known = byTarget.get(key) ?? { target: rule, verbs: new Set<string>() };
    for (const verb of verbs) known.verbs.add(verb);
    byTarget.set(key, known);
  }
  const texts = [...byTarget.values()].map(({ target, verbs }) => describe({ ...target, verbs: [...verbs] }));
  return texts.toSorted();
}

/** A list as messages show it: `["a" "b"]`. */
export function quotedList(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(" ")}]`;
}

function describe(rule: Rule): string {
  const parts: (readonly [string, readonly string[]])[] = [
    ["APIGroups", rule.apiGroups],
    ["Resources", rule.resources],
    ["NonResourceURLs", rule.nonResourceURLs],
    ["ResourceNames", rule.resourceNames],
    ["Verbs", rule.verbs],
  ];
  const given = parts.filter(([, values]) => values.length > 0);
  return `{${given.map(([name, values]) => `${name}:${quotedList(values)}`).join(", ")}}`;
}

/** Whether one held rule gives everything that another says. */
function covers(own: Rule, wanted: Rule): boolean {
  return (
    hasAll(own.verbs, wanted.verbs) &&
    hasAll(own.apiGroups, wanted.apiGroups) &&
    wanted.resources.every((resource) => coversResource(own.resources, resource)) &&
    coversNames(own.resourceNames, wanted.resourceNames) &&
    wanted.nonResourceURLs.every((url) => own.nonResourceURLs.some((entry) => urlCovers(entry, url)))
  );
}

function hasAll(own: readonly string[], wanted: readonly string[]): boolean {
  return own.includes("*") || wanted.every((value) => own.includes(value));
}

function coversResource(own: readonly string[], resource: string): boolean {
  if (own.includes("*") || own.includes(resource)) return true;
  const slash = resource.indexOf("/");
  return slash !== -1 && own.includes(`*${resource.slice(slash)}`);
}

function coversNames(own: readonly string[], wanted: readonly string[]): boolean {
  if (own.length === 0) return true;
  return wanted.length > 0 && wanted.every((name) => own.includes(name));
}

function countPermissions(rule: Rule): number {
  const named = rule.apiGroups.length * rule.resources.length * Math.max(1, rule.resourceNames.length);
  return rule.verbs.length * (named + rule.nonResourceURLs.length);
}

function* permissionsOf(rule: Rule): Iterable<Rule> {
  const names = rule.resourceNames.length === 0 ? [[]] : rule.resourceNames.map((name) => [name]);
  for (const verb of rule.verbs) {
    for (const group of rule.apiGroups) {
      for (const resource of rule.resources) {
        for (const resourceNames of names) {
          yield {
            verbs: [verb],
            apiGroups: [group],
            resources: [resource],
            resourceNames,
            nonResourceURLs: [],
          };
        }
      }
    }
    for (const url of rule.nonResourceURLs) {
      yield { verbs: [verb], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [url] };
    }
  }
}
