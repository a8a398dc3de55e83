import { CoverageIndex } from "./coverage-index.ts";
import { completeRules, type PolicyRule, type Rule } from "./policy.ts";

/**
 * Limit of the single permissions into which one comparison expands rules. A rule with more combinations than remain is
 * compared as a whole: it is covered only if one held rule covers all of it.
 */
const maxPermissions = 100_000;

/** Limit of the list entries that one comparison indexes or compares: about 200 ms. */
const maxSteps = 1_000_000;

/** Number of held rules that are compared as a whole first. Often one of them covers the rule, which avoids expanding it. */
const wholeRuleTries = 4;

/** The comparison ends after this number of missing permissions. */
const maxMissing = 200;

/** Limits of an error message: lines, and values of one list. */
const maxLines = 20;
const maxValues = 20;

/** Result of comparing requested rules with held ones. */
export interface Coverage {
  /**
   * Permissions that aren't covered, expanded to one verb and one resource of one group with at most one name, or one URL
   * path each. Empty if all are covered. Truncated at about {@link maxMissing}.
   */
  readonly missing: readonly Rule[];
  /** Whether the limit of work was exceeded; the first rule that couldn't be compared is in `missing`. */
  readonly undecided: boolean;
}

/** Compares the `requested` rules with the `held` ones. A permission is covered if one held rule covers it. */
export function compareRules(held: readonly PolicyRule[], requested: readonly PolicyRule[]): Coverage {
  const heldIndex = new CoverageIndex(completeRules(held), maxSteps);
  const missing: Rule[] = [];
  let remaining = maxPermissions;
  for (const rule of completeRules(requested)) {
    if (missing.length >= maxMissing) break;
    const permissions = countPermissions(rule);
    const tooLarge = permissions > remaining;
    if (permissions > 1 && heldIndex.coversRule(rule, tooLarge ? Infinity : wholeRuleTries)) continue;
    const missingPermissions = tooLarge ? [rule] : findMissing(heldIndex, rule, maxMissing - missing.length);
    if (heldIndex.exhausted) return { missing: [...missing, rule], undecided: true };
    if (!tooLarge) remaining -= permissions;
    missing.push(...missingPermissions);
  }
  return { missing, undecided: false };
}

/** Returns the permissions of the `requested` rules that the `held` rules don't cover; see {@link compareRules}. */
export function missingRules(held: readonly PolicyRule[], requested: readonly PolicyRule[]): readonly Rule[] {
  return compareRules(held, requested).missing;
}

function findMissing(heldIndex: CoverageIndex, rule: Rule, limit: number): Rule[] {
  const missing: Rule[] = [];
  for (const permission of permissionsOf(rule)) {
    if (heldIndex.coversPermission(permission)) continue;
    missing.push(permission);
    if (missing.length >= limit || heldIndex.exhausted) break;
  }
  return missing;
}

/**
 * Formats rules for an error message as sorted lines. Permissions that differ only in the verb share a line. A last line counts
 * the lines above the limit.
 */
export function describeRules(rules: readonly Rule[]): string[] {
  const byTarget = new Map<string, { target: Rule; verbs: Set<string> }>();
  for (const rule of rules) {
    const { verbs, ...target } = rule;
    const key = JSON.stringify(target);
    const group = byTarget.get(key) ?? { target: rule, verbs: new Set<string>() };
    for (const verb of verbs) group.verbs.add(verb);
    byTarget.set(key, group);
  }
  const texts = [...byTarget.values()].map(({ target, verbs }) => describe({ ...target, verbs: [...verbs] }));
  const lines = texts.toSorted();
  if (lines.length <= maxLines) return lines;
  // The comparison ends early if many permissions are missing.
  const more = `and ${rules.length < maxMissing ? "" : "at least "}${lines.length - maxLines} more`;
  return [...lines.slice(0, maxLines), more];
}

/** Formats a list for an error message: `["a" "b"]`. A long list is truncated and the rest counted. */
export function quotedList(values: readonly string[]): string {
  const shown = values.slice(0, maxValues).map((value) => JSON.stringify(value));
  if (values.length > maxValues) shown.push(`and ${values.length - maxValues} more`);
  return `[${shown.join(" ")}]`;
}

function describe(rule: Rule): string {
  const parts: (readonly [string, readonly string[]])[] = [
    ["APIGroups", rule.apiGroups],
    ["Resources", rule.resources],
    ["NonResourceURLs", rule.nonResourceURLs],
    ["ResourceNames", rule.resourceNames],
    ["Verbs", rule.verbs],
  ];
  const nonEmpty = parts.filter(([, values]) => values.length > 0);
  return `{${nonEmpty.map(([name, values]) => `${name}:${quotedList(values)}`).join(", ")}}`;
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
