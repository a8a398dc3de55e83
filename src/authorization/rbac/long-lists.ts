import { UrlSet } from "./url-set.ts";
import type { Rule } from "./policy.ts";

/** Entries of a list in which looking for one takes no longer than in a set. */
const fewEntries = 16;

/** The entries of long lists as sets, as long as the list is there. */
const sets = new WeakMap<readonly string[], ReadonlySet<string>>();
const urlSets = new WeakMap<readonly string[], UrlSet>();

/** Makes the sets of the rule's long lists when the rule is stored, so that no review has to. */
export function prepareLists({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: Rule): void {
  for (const list of [verbs, apiGroups, resources, resourceNames]) {
    if (isLong(list)) setOf(list);
  }
  if (isLong(nonResourceURLs)) urlSetOf(nonResourceURLs);
}

/** Whether a list is looked into by its set. */
export function isLong(list: readonly string[]): boolean {
  return list.length > fewEntries;
}

/** Whether a list holds an entry; what that costs hardly depends on the list's length. */
export function listHas(list: readonly string[], entry: string): boolean {
  return isLong(list) ? setOf(list).has(entry) : list.includes(entry);
}

/** The set of a rule's URL entries where there are many; undefined where they are few. */
export function manyUrls(list: readonly string[]): UrlSet | undefined {
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
