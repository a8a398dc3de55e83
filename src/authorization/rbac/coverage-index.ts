import type { Rule } from "./policy.ts";
import { UrlSet } from "./url-set.ts";

/**
 * An index of the rules that a user has, to check whether they cover other rules. `*` in a checked rule is an ordinary value:
 * only a `*` in the user's rules covers it. The index is built lazily by verb, group, resource and name; its work is limited.
 */
export class CoverageIndex {
  private readonly all = new IndexNode();
  private readonly budget: StepBudget;

  /** @param maxSteps limit for the list entries that are indexed or compared in all calls together. */
  constructor(rules: readonly Rule[], maxSteps: number) {
    this.budget = { remaining: maxSteps };
    for (const rule of rules) this.all.add(rule);
  }

  /** Whether the limit was exceeded. After that, results may be false negatives. */
  get exhausted(): boolean {
    return this.budget.remaining < 0;
  }

  /** Whether one rule of the user covers a single permission: one verb, and one resource of one group with at most one name, or one URL. */
  coversPermission(permission: Rule): boolean {
    const [url] = permission.nonResourceURLs;
    if (url !== undefined)
      return this.nodesForVerb(permission).some((node) => node.coversUrl(url, this.budget));
    const [name] = permission.resourceNames;
    return this.nodesForResource(permission).some(
      (node) =>
        node.coversAllNames ||
        (name !== undefined && node.child("resourceNames", name, this.budget) !== undefined),
    );
  }

  /**
   * Whether one rule of the user covers the whole rule, which has at least one permission. Compares at most `maxTries` of the
   * rules that cover the first permission.
   */
  coversRule(requested: Rule, maxTries: number): boolean {
    const hasResources = requested.apiGroups.length > 0 && requested.resources.length > 0;
    let tries = maxTries;
    for (const node of hasResources ? this.nodesForResource(requested) : this.nodesForVerb(requested)) {
      for (const rule of node.rules) {
        if (tries-- <= 0) return false;
        this.budget.remaining -= 1 + (entriesOf(rule) + entriesOf(requested)) / entriesPerStep;
        if (this.exhausted) return false;
        if (covers(rule, requested)) return true;
      }
    }
    return false;
  }

  /** Returns the nodes with the rules that cover the first verb of a rule. */
  private nodesForVerb({ verbs }: Rule): readonly IndexNode[] {
    return this.childrenOf([this.all], "verbs", valueAndWildcard(verbs[0]!));
  }

  /** Returns the nodes with the rules that cover the first verb, group and resource of a rule. */
  private nodesForResource(rule: Rule): readonly IndexNode[] {
    const groupNodes = this.childrenOf(
      this.nodesForVerb(rule),
      "apiGroups",
      valueAndWildcard(rule.apiGroups[0]!),
    );
    return this.childrenOf(groupNodes, "resources", resourceEntries(rule.resources[0]!));
  }

  private childrenOf(
    nodes: readonly IndexNode[],
    list: ListName,
    entries: readonly string[],
  ): readonly IndexNode[] {
    const children: IndexNode[] = [];
    for (const node of nodes) {
      for (const entry of entries) {
        const child = node.child(list, entry, this.budget);
        if (child !== undefined) children.push(child);
      }
    }
    return children;
  }
}

/** Comparing this number of entries takes as long as indexing one. */
const entriesPerStep = 4;

/** The remaining steps; negative after the limit was exceeded. */
interface StepBudget {
  remaining: number;
}

type ListName = "verbs" | "apiGroups" | "resources" | "resourceNames";

/** Lists up to this length are searched linearly, which is as fast as a map lookup. */
const linearSearchLimit = 16;

/** A node of the index: rules that have certain entries in common. */
class IndexNode {
  readonly rules: Rule[] = [];
  /** Whether one of the rules has no resource names. */
  coversAllNames = false;
  /** The rules by the entries of their next list. All calls of {@link child} for a node pass the same list. */
  private children: Map<string, IndexNode> | undefined;
  private urls: UrlSet | undefined;

  add(rule: Rule): void {
    this.rules.push(rule);
    if (rule.resourceNames.length === 0) this.coversAllNames = true;
  }

  /** Returns the node of the rules whose list contains the entry. */
  child(list: ListName, entry: string, budget: StepBudget): IndexNode | undefined {
    const only = this.rules.length === 1 ? this.rules[0]![list] : undefined;
    if (only !== undefined && only.length <= linearSearchLimit)
      return only.includes(entry) ? this : undefined;
    if (this.children === undefined) {
      for (const rule of this.rules) budget.remaining -= 1 + rule[list].length;
      if (budget.remaining < 0) return undefined;
      this.children = groupByEntry(list, this.rules);
    }
    return this.children.get(entry);
  }

  coversUrl(url: string, budget: StepBudget): boolean {
    if (this.urls === undefined) {
      for (const rule of this.rules) budget.remaining -= 1 + rule.nonResourceURLs.length;
      if (budget.remaining < 0) return false;
      this.urls = new UrlSet(this.rules.flatMap((rule) => rule.nonResourceURLs));
    }
    return this.urls.covers(url);
  }
}

function groupByEntry(list: ListName, rules: readonly Rule[]): Map<string, IndexNode> {
  const children = new Map<string, IndexNode>();
  for (const rule of rules) {
    for (const entry of rule[list]) {
      let child = children.get(entry);
      if (child === undefined) children.set(entry, (child = new IndexNode()));
      child.add(rule);
    }
  }
  return children;
}

/** Whether one rule covers another. */
function covers(held: Rule, requested: Rule): boolean {
  return (
    hasAll(held.verbs, requested.verbs) &&
    hasAll(held.apiGroups, requested.apiGroups) &&
    coversResources(held.resources, requested.resources) &&
    (requested.resources.length === 0 || coversNames(held.resourceNames, requested.resourceNames)) &&
    coversUrls(held.nonResourceURLs, requested.nonResourceURLs)
  );
}

function hasAll(held: readonly string[], requested: readonly string[]): boolean {
  const entries = new Set(held);
  return entries.has("*") || requested.every((value) => entries.has(value));
}

function coversResources(held: readonly string[], requested: readonly string[]): boolean {
  const entries = new Set(held);
  return requested.every((resource) => resourceEntries(resource).some((entry) => entries.has(entry)));
}

/** A rule without names covers all names; a list of names never covers a rule without names. */
function coversNames(held: readonly string[], requested: readonly string[]): boolean {
  if (held.length === 0) return true;
  const entries = new Set(held);
  return requested.length > 0 && requested.every((name) => entries.has(name));
}

function coversUrls(held: readonly string[], requested: readonly string[]): boolean {
  if (requested.length === 0) return true;
  const entries = new UrlSet(held);
  return requested.every((url) => entries.covers(url));
}

/** Returns the entries that cover a verb or a group. */
function valueAndWildcard(value: string): readonly string[] {
  return value === "*" ? ["*"] : [value, "*"];
}

/** Returns the entries that cover a resource: the resource, `*`, and `*`/subresource. */
function resourceEntries(resource: string): readonly string[] {
  const slash = resource.indexOf("/");
  if (slash === -1) return valueAndWildcard(resource);
  const subresourceOfAll = `*${resource.slice(slash)}`;
  return subresourceOfAll === resource ? [resource, "*"] : [resource, subresourceOfAll, "*"];
}

function entriesOf(rule: Rule): number {
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
  return verbs.length + apiGroups.length + resources.length + resourceNames.length + nonResourceURLs.length;
}
