import { firstItem, withItem, withoutItem, type OneOrMany } from "./one-or-many.ts";
import type { Rule } from "./policy.ts";
import { ruleAllows, type RuleQuery } from "./rule-match.ts";
import { combinationsOf, type TableBudget, type Turn } from "./table-budget.ts";
import { urlPrefix } from "./url-set.ts";

/** The owners that grant a resource: for all names, and for single names. */
interface Leaf<Owner extends object> {
  anyName: OneOrMany<Owner>;
  names: Map<string, OneOrMany<Owner>> | undefined;
}

type ByResource<Owner extends object> = Map<string, Leaf<Owner>>;
type ByGroup<Owner extends object> = Map<string, ByResource<Owner>>;

/** Adds or removes one owner in a set. */
type Change = <T extends object>(set: OneOrMany<T>, owner: T) => OneOrMany<T>;

/**
 * Lookup table for the rules of many owners. A search takes about a dozen map lookups, independent of the number of rules. Adding
 * and removing rules takes time proportional to these rules. Rules are inserted by the next search, a limited number per
 * iteration of the event loop. Rules above the memory budget are compared one by one.
 */
export class RuleTable<Owner extends object> {
  private readonly verbs = new Map<string, ByGroup<Owner>>();
  private readonly urls = new Map<string, UrlTable<Owner>>();
  /** Owners whose rules are not, or not all, inserted yet. */
  private readonly pending = new Map<Owner, readonly Rule[]>();
  /** Number of inserted rules of the first pending owner. */
  private insertedOfFirst = 0;
  /** Rules above the memory budget, which are compared one by one. */
  private readonly linearRules = new Map<Owner, Rule[]>();

  constructor(private readonly budget: TableBudget) {}

  /** Adds the rules of an owner that has none in the table. */
  add(rules: readonly Rule[], owner: Owner): void {
    this.pending.set(owner, rules);
  }

  /** Removes all rules of an owner; `rules` must be those that were added. */
  remove(rules: readonly Rule[], owner: Owner): void {
    let inserted = rules;
    if (this.pending.has(owner)) {
      const [first] = this.pending.keys();
      inserted = first === owner ? rules.slice(0, this.insertedOfFirst) : [];
      if (first === owner) this.insertedOfFirst = 0;
      this.pending.delete(owner);
    }
    const linearRules = new Set(this.linearRules.get(owner));
    this.linearRules.delete(owner);
    for (const rule of inserted) {
      if (linearRules.has(rule)) continue;
      this.change(rule, owner, withoutItem);
      this.budget.release(rule);
    }
  }

  /** Returns an owner whose rules allow the request. Sets `turn.unfinished` if rules are still pending. */
  find(query: RuleQuery, turn: Turn): Owner | undefined {
    if (this.pending.size > 0) this.insertPending(turn);
    const { verb } = query;
    const owner = query.isResourceRequest
      ? (findByGroup(this.verbs.get(verb), query) ?? findByGroup(this.verbs.get("*"), query))
      : (this.urls.get(verb)?.find(query.path) ?? this.urls.get("*")?.find(query.path));
    if (owner !== undefined || this.linearRules.size === 0) return owner;
    for (const [owner, rules] of this.linearRules) {
      for (const rule of rules) if (ruleAllows(rule, query)) return owner;
    }
    return undefined;
  }

  /** Inserts pending rules up to the limit of the turn. */
  private insertPending(turn: Turn): void {
    for (const [owner, rules] of this.pending) {
      for (; this.insertedOfFirst < rules.length; this.insertedOfFirst++) {
        if (turn.remaining <= 0) {
          turn.unfinished = true;
          return;
        }
        turn.remaining -= this.insert(rules[this.insertedOfFirst]!, owner);
      }
      this.insertedOfFirst = 0;
      this.pending.delete(owner);
    }
  }

  /** Inserts a rule if the budget allows it. Returns the cost for the turn. */
  private insert(rule: Rule, owner: Owner): number {
    if (this.budget.reserve(rule)) {
      this.change(rule, owner, withItem);
      return combinationsOf(rule);
    }
    const linearRules = this.linearRules.get(owner);
    if (linearRules === undefined) this.linearRules.set(owner, [rule]);
    else linearRules.push(rule);
    return 1;
  }

  /** Adds an owner to every combination of a rule, or removes it. */
  private change(rule: Rule, owner: Owner, change: Change): void {
    for (const verb of rule.verbs) {
      if (rule.resources.length > 0) this.changeResources(verb, rule, owner, change);
      if (rule.nonResourceURLs.length > 0) this.changeUrls(verb, rule.nonResourceURLs, owner, change);
    }
  }

  private changeResources(verb: string, rule: Rule, owner: Owner, change: Change): void {
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

  private changeUrls(verb: string, urls: readonly string[], owner: Owner, change: Change): void {
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

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}

/**
 * Owners by URL entry: exact paths, and prefixes (entries with a trailing `*`). A lookup tries only the existing lengths of
 * prefixes, so its time depends on the length of the path, not on the number of entries.
 */
class UrlTable<Owner extends object> {
  private readonly exact = new Map<string, OneOrMany<Owner>>();
  private readonly prefixes = new Map<string, OneOrMany<Owner>>();
  /** Number of prefixes of each length. */
  private readonly lengths = new Map<number, number>();

  get isEmpty(): boolean {
    return this.exact.size === 0 && this.prefixes.size === 0;
  }

  /** Replaces the owners of a URL entry by the result of `change`. */
  change(url: string, change: (owners: OneOrMany<Owner>) => OneOrMany<Owner>): void {
    const prefix = urlPrefix(url);
    const map = prefix === undefined ? this.exact : this.prefixes;
    const key = prefix ?? url;
    const before = map.get(key);
    const after = change(before);
    if (after === undefined) map.delete(key);
    else map.set(key, after);
    if (prefix === undefined || (before === undefined) === (after === undefined)) return;
    const count = (this.lengths.get(prefix.length) ?? 0) + (after === undefined ? -1 : 1);
    if (count === 0) this.lengths.delete(prefix.length);
    else this.lengths.set(prefix.length, count);
  }

  /** Returns an owner of an entry that matches the path. A `*` in the path is an ordinary character. */
  find(path: string): Owner | undefined {
    const exact = this.exact.get(path);
    if (exact !== undefined) return firstItem(exact);
    if (this.prefixes.size === 0) return undefined;
    for (const length of this.lengths.keys()) {
      if (length > path.length) continue;
      const owners = this.prefixes.get(length === path.length ? path : path.slice(0, length));
      if (owners !== undefined) return firstItem(owners);
    }
    return undefined;
  }
}
