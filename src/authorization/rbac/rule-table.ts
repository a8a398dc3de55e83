import { firstItem, withItem, withoutItem, type OneOrMany } from "./one-or-many.ts";
import type { Rule } from "./policy.ts";
import { ruleAllows, type RuleQuery } from "./rule-match.ts";
import { UrlTable } from "./url-table.ts";

/** Combinations of verbs, groups and resources past which a rule is compared as it stands instead of being spread. */
const maxCombinations = 4096;
/** The same for all rules of one owner together: what a role of any size may cost. */
const maxOwnerCombinations = 4 * maxCombinations;

/** Who grants a resource: for every name, and for single names. */
interface Leaf<Owner extends object> {
  anyName: OneOrMany<Owner>;
  names: Map<string, OneOrMany<Owner>> | undefined;
}

type ByResource<Owner extends object> = Map<string, Leaf<Owner>>;
type ByGroup<Owner extends object> = Map<string, ByResource<Owner>>;

/** Adds or removes one owner in a set. */
type Change = <T extends object>(set: OneOrMany<T>, owner: T) => OneOrMany<T>;

/**
 * Rules of many owners, spread over lookup maps so that a question costs a dozen lookups however many rules there are.
 * Adding and removing an owner's rules costs what these rules say, whatever else is in the table.
 */
export class RuleTable<Owner extends object> {
  private readonly verbs = new Map<string, ByGroup<Owner>>();
  private readonly urls = new Map<string, UrlTable<Owner>>();
  /** Rules with so many combinations that spreading them would cost more than comparing. */
  private readonly wide = new Map<Owner, Rule[]>();

  /** Adds an owner's rules. */
  add(rules: readonly Rule[], owner: Owner): void {
    const { narrow, wide } = divide(rules);
    for (const rule of narrow) this.spread(rule, owner, withItem);
    for (const rule of wide) this.addWide(rule, owner);
  }

  /** Removes all rules of an owner: `rules` are those that were added for it. */
  remove(rules: readonly Rule[], owner: Owner): void {
    for (const rule of divide(rules).narrow) this.spread(rule, owner, withoutItem);
    this.wide.delete(owner);
  }

  /** An owner whose rules allow what is asked. */
  find(query: RuleQuery): Owner | undefined {
    const { verb } = query;
    const found = query.aboutResource
      ? (findByGroup(this.verbs.get(verb), query) ?? findByGroup(this.verbs.get("*"), query))
      : (this.urls.get(verb)?.find(query.path) ?? this.urls.get("*")?.find(query.path));
    if (found !== undefined || this.wide.size === 0) return found;
    for (const [owner, rules] of this.wide) {
      if (rules.some((rule) => ruleAllows(rule, query))) return owner;
    }
    return undefined;
  }

  private addWide(rule: Rule, owner: Owner): void {
    const rules = this.wide.get(owner);
    if (rules === undefined) this.wide.set(owner, [rule]);
    else rules.push(rule);
  }

  private spread(rule: Rule, owner: Owner, change: Change): void {
    for (const verb of rule.verbs) {
      if (rule.resources.length > 0) this.spreadResources(verb, rule, owner, change);
      if (rule.nonResourceURLs.length > 0) this.spreadUrls(verb, rule.nonResourceURLs, owner, change);
    }
  }

  private spreadResources(verb: string, rule: Rule, owner: Owner, change: Change): void {
    const byGroup = entry(this.verbs, verb, () => new Map() as ByGroup<Owner>);
    for (const group of rule.apiGroups) {
      const byResource = entry(byGroup, group, () => new Map() as ByResource<Owner>);
      for (const resource of rule.resources) {
        const leaf = entry(byResource, resource, (): Leaf<Owner> => ({
          anyName: undefined,
          names: undefined,
        }));
        changeLeaf(leaf, rule.resourceNames, owner, change);
        if (leaf.anyName === undefined && leaf.names === undefined) byResource.delete(resource);
      }
      if (byResource.size === 0) byGroup.delete(group);
    }
    if (byGroup.size === 0) this.verbs.delete(verb);
  }

  private spreadUrls(verb: string, urls: readonly string[], owner: Owner, change: Change): void {
    const table = entry(this.urls, verb, () => new UrlTable<Owner>());
    for (const url of urls) table.change(url, (set) => change(set, owner));
    if (table.isEmpty) this.urls.delete(verb);
  }
}

function changeLeaf<Owner extends object>(
  leaf: Leaf<Owner>,
  names: readonly string[],
  owner: Owner,
  change: Change,
): void {
  if (names.length === 0) {
    leaf.anyName = change(leaf.anyName, owner);
    return;
  }
  const byName = (leaf.names ??= new Map());
  for (const name of names) {
    const owners = change(byName.get(name), owner);
    if (owners === undefined) byName.delete(name);
    else byName.set(name, owners);
  }
  if (byName.size === 0) leaf.names = undefined;
}

function findByGroup<Owner extends object>(
  byGroup: ByGroup<Owner> | undefined,
  query: RuleQuery,
): Owner | undefined {
  if (byGroup === undefined) return undefined;
  return findByResource(byGroup.get(query.group), query) ?? findByResource(byGroup.get("*"), query);
}

function findByResource<Owner extends object>(
  byResource: ByResource<Owner> | undefined,
  query: RuleQuery,
): Owner | undefined {
  if (byResource === undefined) return undefined;
  const { resource, subresourceOfAll, name } = query;
  return (
    ownerAt(byResource.get(resource), name) ??
    (subresourceOfAll === "" ? undefined : ownerAt(byResource.get(subresourceOfAll), name)) ??
    ownerAt(byResource.get("*"), name)
  );
}

function ownerAt<Owner extends object>(leaf: Leaf<Owner> | undefined, name: string): Owner | undefined {
  if (leaf === undefined) return undefined;
  if (leaf.anyName !== undefined) return firstItem(leaf.anyName);
  return leaf.names === undefined ? undefined : firstItem(leaf.names.get(name));
}

/** The rules that are spread over the table, and those that are compared as a whole: too many combinations for one owner. */
function divide(rules: readonly Rule[]): {
  readonly narrow: readonly Rule[];
  readonly wide: readonly Rule[];
} {
  const narrow: Rule[] = [];
  const wide: Rule[] = [];
  let combinations = 0;
  for (const rule of rules) {
    const own = combinationsOf(rule);
    if (own > maxCombinations || combinations + own > maxOwnerCombinations) wide.push(rule);
    else {
      narrow.push(rule);
      combinations += own;
    }
  }
  return { narrow, wide };
}

function combinationsOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: Rule): number {
  const named = apiGroups.length * resources.length * Math.max(1, resourceNames.length);
  return verbs.length * (named + nonResourceURLs.length);
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}
