import type { Rule } from "./policy.ts";
import { UrlSet } from "./url-set.ts";

/**
 * The rules that a user holds, for asking what they give. `*` in a question is a value like any other: only a held `*`
 * gives it. The rules are sorted by verb, group, resource and name as far as questions need it; what that costs is
 * bounded.
 */
export class CoverageIndex {
  private readonly all = new Shelf();
  private readonly work: Work;

  /** @param maxSteps entries of rules that may be sorted, and compared, for all questions together. */
  constructor(rules: readonly Rule[], maxSteps: number) {
    this.work = { left: maxSteps };
    for (const rule of rules) this.all.add(rule);
  }

  /** Whether the bound was reached. From then on answers may be no where they should be yes. */
  get exhausted(): boolean {
    return this.work.left < 0;
  }

  /** Whether one held rule gives a single permission: one verb, and one resource of one group with at most one name, or one URL. */
  give(permission: Rule): boolean {
    const [url] = permission.nonResourceURLs;
    if (url !== undefined) return this.ofVerb(permission).some((shelf) => shelf.givesUrl(url, this.work));
    const [name] = permission.resourceNames;
    return this.ofResource(permission).some(
      (shelf) =>
        shelf.givesEveryName ||
        (name !== undefined && shelf.part("resourceNames", name, this.work) !== undefined),
    );
  }

  /**
   * Whether one held rule alone gives all of another, which says at least one permission. Only so many held rules are
   * compared with it, of those that give its first permission.
   */
  giveAtOnce(wanted: Rule, maxTries: number): boolean {
    const named = wanted.apiGroups.length > 0 && wanted.resources.length > 0;
    let tries = maxTries;
    for (const shelf of named ? this.ofResource(wanted) : this.ofVerb(wanted)) {
      for (const own of shelf.rules) {
        if (tries-- <= 0) return false;
        this.work.left -= 1 + (entriesOf(own) + entriesOf(wanted)) / entriesPerStep;
        if (this.exhausted) return false;
        if (covers(own, wanted)) return true;
      }
    }
    return false;
  }

  /** Where the rules are that give the first verb of a rule. */
  private ofVerb({ verbs }: Rule): readonly Shelf[] {
    return this.partsOf([this.all], "verbs", orAll(verbs[0]!));
  }

  /** Where the rules are that give the first verb of a rule on the first resource of its first group. */
  private ofResource(rule: Rule): readonly Shelf[] {
    const ofGroup = this.partsOf(this.ofVerb(rule), "apiGroups", orAll(rule.apiGroups[0]!));
    return this.partsOf(ofGroup, "resources", resourceEntries(rule.resources[0]!));
  }

  private partsOf(shelves: readonly Shelf[], list: ListName, entries: readonly string[]): readonly Shelf[] {
    const parts: Shelf[] = [];
    for (const shelf of shelves) {
      for (const entry of entries) {
        const part = shelf.part(list, entry, this.work);
        if (part !== undefined) parts.push(part);
      }
    }
    return parts;
  }
}

/** Entries that are compared in the time in which one is sorted. */
const entriesPerStep = 4;

/** Steps that are left; negative once there were too many. */
interface Work {
  left: number;
}

type ListName = "verbs" | "apiGroups" | "resources" | "resourceNames";

/** Entries of a list in which looking for one takes no longer than in a map. */
const fewEntries = 16;

/** Rules that have some entries in common. */
class Shelf {
  readonly rules: Rule[] = [];
  /** Whether there is a rule among them that isn't narrowed to names. */
  givesEveryName = false;
  /** The same rules by the entries of their next list: always the same one (of a lone rule, the first long one). */
  private parts: Map<string, Shelf> | undefined;
  private urls: UrlSet | undefined;

  add(rule: Rule): void {
    this.rules.push(rule);
    if (rule.resourceNames.length === 0) this.givesEveryName = true;
  }

  /** Those that have an entry in a list. */
  part(list: ListName, entry: string, work: Work): Shelf | undefined {
    const only = this.rules.length === 1 ? this.rules[0]![list] : undefined;
    if (only !== undefined && only.length <= fewEntries) return only.includes(entry) ? this : undefined;
    if (this.parts === undefined) {
      for (const rule of this.rules) work.left -= 1 + rule[list].length;
      if (work.left < 0) return undefined;
      this.parts = partsBy(list, this.rules);
    }
    return this.parts.get(entry);
  }

  givesUrl(url: string, work: Work): boolean {
    if (this.urls === undefined) {
      for (const rule of this.rules) work.left -= 1 + rule.nonResourceURLs.length;
      if (work.left < 0) return false;
      this.urls = new UrlSet(this.rules.flatMap((rule) => rule.nonResourceURLs));
    }
    return this.urls.covers(url);
  }
}

function partsBy(list: ListName, rules: readonly Rule[]): Map<string, Shelf> {
  const parts = new Map<string, Shelf>();
  for (const rule of rules) {
    for (const entry of rule[list]) {
      let part = parts.get(entry);
      if (part === undefined) parts.set(entry, (part = new Shelf()));
      part.add(rule);
    }
  }
  return parts;
}

/** Whether one rule gives everything that another says. */
function covers(own: Rule, wanted: Rule): boolean {
  return (
    hasAll(own.verbs, wanted.verbs) &&
    hasAll(own.apiGroups, wanted.apiGroups) &&
    coversResources(own.resources, wanted.resources) &&
    (wanted.resources.length === 0 || coversNames(own.resourceNames, wanted.resourceNames)) &&
    coversUrls(own.nonResourceURLs, wanted.nonResourceURLs)
  );
}

function hasAll(own: readonly string[], wanted: readonly string[]): boolean {
  const entries = new Set(own);
  return entries.has("*") || wanted.every((value) => entries.has(value));
}

function coversResources(own: readonly string[], wanted: readonly string[]): boolean {
  const entries = new Set(own);
  return wanted.every((resource) => resourceEntries(resource).some((entry) => entries.has(entry)));
}

/** A rule without names gives every name; names never add up to that. */
function coversNames(own: readonly string[], wanted: readonly string[]): boolean {
  if (own.length === 0) return true;
  const entries = new Set(own);
  return wanted.length > 0 && wanted.every((name) => entries.has(name));
}

function coversUrls(own: readonly string[], wanted: readonly string[]): boolean {
  if (wanted.length === 0) return true;
  const entries = new UrlSet(own);
  return wanted.every((url) => entries.covers(url));
}

/** The entries of a held rule that give a verb or a group. */
function orAll(value: string): readonly string[] {
  return value === "*" ? ["*"] : [value, "*"];
}

/** The entries of a held rule that give a resource: itself, all, and of a subresource that of all resources. */
function resourceEntries(resource: string): readonly string[] {
  const slash = resource.indexOf("/");
  if (slash === -1) return orAll(resource);
  const ofAll = `*${resource.slice(slash)}`;
  return ofAll === resource ? [resource, "*"] : [resource, ofAll, "*"];
}

function entriesOf(rule: Rule): number {
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
  return verbs.length + apiGroups.length + resources.length + resourceNames.length + nonResourceURLs.length;
}
