import { CoverageIndex } from "./coverage-index.ts";
import { completeRules, type PolicyRule, type Rule } from "./policy.ts";

/**
 * Single permissions that one comparison breaks rules into. A rule with more combinations than are left is compared as a
 * whole, and counts as not covered unless one held rule covers all of it.
 */
const maxPermissions = 100_000;

/** Entries of held rules that one comparison sorts, or compares: about 200 ms of work. */
const maxSteps = 1_000_000;

/** Held rules of which one often gives all of a rule: comparing them saves looking up its permissions. */
const fewTries = 4;

/** So many missing permissions are enough to refuse and to say why. */
const maxMissing = 200;

/** Lines of a message, and values of one list in it. */
const maxLines = 20;
const maxValues = 20;

/** What of some wanted rules isn't covered. */
export interface Coverage {
  /**
   * Broken into single permissions (one verb, one resource of one group with at most one name, or one URL path). Empty
   * when everything is covered; it may end early when much is missing.
   */
  readonly missing: readonly Rule[];
  /** Whether there were too many rules to compare them all: the first that couldn't be counts as missing. */
  readonly undecided: boolean;
}

/** Compares the `wanted` rules with the `held` ones: a permission is covered when one held rule gives it. */
export function compareRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): Coverage {
  const owned = new CoverageIndex(completeRules(held), maxSteps);
  const missing: Rule[] = [];
  let left = maxPermissions;
  for (const rule of completeRules(wanted)) {
    if (missing.length >= maxMissing) break;
    const permissions = countPermissions(rule);
    const wide = permissions > left;
    if (permissions > 1 && owned.giveAtOnce(rule, wide ? Infinity : fewTries)) continue;
    const lacking = wide ? [rule] : lackingPermissions(owned, rule, maxMissing - missing.length);
    if (owned.exhausted) return { missing: [...missing, rule], undecided: true };
    if (!wide) left -= permissions;
    missing.push(...lacking);
  }
  return { missing, undecided: false };
}

/** What of the `wanted` rules the `held` rules don't give, as {@link compareRules} finds it. */
export function missingRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly Rule[] {
  return compareRules(held, wanted).missing;
}

function lackingPermissions(owned: CoverageIndex, rule: Rule, enough: number): Rule[] {
  const lacking: Rule[] = [];
  for (const permission of permissionsOf(rule)) {
    if (owned.give(permission)) continue;
    lacking.push(permission);
    if (lacking.length >= enough || owned.exhausted) break;
  }
  return lacking;
}

/**
 * Rules as a message lists them: permissions that differ in the verb only are one line; lines are sorted. Of many lines
 * only the first stand there, and a line that says how many more there are.
 */
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
  const lines = texts.toSorted();
  if (lines.length <= maxLines) return lines;
  // When much is missing not all of it was looked for.
  const more = `and ${rules.length < maxMissing ? "" : "at least "}${lines.length - maxLines} more`;
  return [...lines.slice(0, maxLines), more];
}

/** A list as messages show it: `["a" "b"]`, of a long one the first values and how many more there are. */
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
  const given = parts.filter(([, values]) => values.length > 0);
  return `{${given.map(([name, values]) => `${name}:${quotedList(values)}`).join(", ")}}`;
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
