import { firstItem, withItem, withoutItem, type OneOrMany } from "./one-or-many.ts";
import type { Rule } from "./policy.ts";
import { ruleAllows, type RuleQuery } from "./rule-match.ts";
import { combinationsOf, type TableBudget, type Turn } from "./table-budget.ts";
import { UrlTable } from "./url-table.ts";

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
 * Adding and removing an owner's rules costs what these rules say, whatever else is in the table. Rules are spread when
 * questions come, so many a turn; those that the budget has no room for are compared one by one.
 */
export class RuleTable<Owner extends object> {
  private readonly verbs = new Map<string, ByGroup<Owner>>();
  private readonly urls = new Map<string, UrlTable<Owner>>();
  /** Rules that are not, or not all, spread yet. */
  private readonly waiting = new Map<Owner, readonly Rule[]>();
  /** How many rules of the first that wait are spread. */
  private begun = 0;
  /** Rules that are compared, as spreading them would cost too much. */
  private readonly wide = new Map<Owner, Rule[]>();

  constructor(private readonly budget: TableBudget) {}

  /** Adds an owner's rules; it has none in the table yet. */
  add(rules: readonly Rule[], owner: Owner): void {
    this.waiting.set(owner, rules);
  }

  /** Removes all rules of an owner: `rules` are those that were added for it. */
  remove(rules: readonly Rule[], owner: Owner): void {
    let spread = rules;
    if (this.waiting.has(owner)) {
      const [first] = this.waiting.keys();
      spread = first === owner ? rules.slice(0, this.begun) : [];
      if (first === owner) this.begun = 0;
      this.waiting.delete(owner);
    }
    const wide = new Set(this.wide.get(owner));
    this.wide.delete(owner);
    for (const rule of spread) {
      if (wide.has(rule)) continue;
      this.change(rule, owner, withoutItem);
      this.budget.giveBack(rule);
    }
  }

  /** An owner whose rules allow what is asked; the turn says whether there may be one that waits. */
  find(query: RuleQuery, turn: Turn): Owner | undefined {
    if (this.waiting.size > 0) this.insertWaiting(turn);
    const { verb } = query;
    const found = query.aboutResource
      ? (findByGroup(this.verbs.get(verb), query) ?? findByGroup(this.verbs.get("*"), query))
      : (this.urls.get(verb)?.find(query.path) ?? this.urls.get("*")?.find(query.path));
    if (found !== undefined || this.wide.size === 0) return found;
    for (const [owner, rules] of this.wide) {
      for (const rule of rules) if (ruleAllows(rule, query)) return owner;
    }
    return undefined;
  }

  /** Spreads rules that wait, as many as the turn has room for. */
  private insertWaiting(turn: Turn): void {
    for (const [owner, rules] of this.waiting) {
      for (; this.begun < rules.length; this.begun++) {
        if (turn.left <= 0) {
          turn.unfinished = true;
          return;
        }
        turn.left -= this.place(rules[this.begun]!, owner);
      }
      this.begun = 0;
      this.waiting.delete(owner);
    }
  }

  /** Spreads a rule if it can be; returns what that cost of the turn. */
  private place(rule: Rule, owner: Owner): number {
    if (this.budget.take(rule)) {
      this.change(rule, owner, withItem);
      return combinationsOf(rule);
    }
    const wide = this.wide.get(owner);
    if (wide === undefined) this.wide.set(owner, [rule]);
    else wide.push(rule);
    return 1;
  }

  /** Adds an owner to, or takes it out of, every combination of a rule. */
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
