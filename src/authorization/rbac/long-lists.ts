import { UrlSet } from "./url-set.ts";
import type { Rule } from "./policy.ts";

/** Lists up to this length are searched linearly, which is as fast as a set lookup. */
const linearSearchLimit = 16;

/** Sets for long lists, garbage-collected with the list. */
const sets = new WeakMap<readonly string[], ReadonlySet<string>>();
const urlSets = new WeakMap<readonly string[], UrlSet>();

/** Builds the sets of the rule's long lists when the rule is stored, so that requests don't have to. */
export function prepareLists({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: Rule): void {
  for (const list of [verbs, apiGroups, resources, resourceNames]) {
    if (isLong(list)) setOf(list);
  }
  if (isLong(nonResourceURLs)) urlSetOf(nonResourceURLs);
}

/** Whether the list is searched by its set. */
export function isLong(list: readonly string[]): boolean {
  return list.length > linearSearchLimit;
}

/** Whether a list contains an entry. Takes constant time. */
export function listIncludes(list: readonly string[], entry: string): boolean {
  return isLong(list) ? setOf(list).has(entry) : list.includes(entry);
}

/** Returns the set of a long list of URL entries; undefined for a short list. */
export function longUrlSet(list: readonly string[]): UrlSet | undefined {
  return isLong(list) ? urlSetOf(list) : undefined;
}

function setOf(list: readonly string[]): ReadonlySet<string> {
  let set = sets.get(list);
  if (set === undefined) sets.set(list, (set = new Set(list)));
  return set;
}

function urlSetOf(list: readonly string[]): UrlSet {
  let set = urlSets.get(list);
  if (set === undefined) urlSets.set(list, (set = new UrlSet(list)));
  return set;
}
