import { type JsonObject, type JsonValue, getMember, isObject } from "../base/json/value.ts";
import { inapplicablePatch, malformedPatch } from "./patch-fault.ts";
import { directiveOf } from "./strategic-directives.ts";

/** Rule for merging a list. */
export interface ListRule {
  /** Name of the list, for messages. */
  readonly name: string;
  /** Merge key: the field that identifies an object; undefined for lists of scalars. */
  readonly mergeKey: string | undefined;
  /** Merges an object of the patch into the object with the same key, or into an empty one. */
  readonly mergeElement: (original: JsonObject, change: JsonObject) => JsonObject;
}

/** Returns the identity of an element: elements with equal texts are the same. */
type Identify = (item: JsonValue) => string;

/** Merges the list of a patch into the original one by the rule. */
export function mergeList(
  original: readonly JsonValue[],
  patch: readonly JsonValue[],
  rule: ListRule,
): JsonValue[] {
  const identify = identifyBy(original, patch, rule);
  if (rule.mergeKey === undefined) {
    const merged = unique([...original, ...patch], identify);
    return arrange(merged, patch.map(identify), original.map(identify), identify);
  }
  const changes = readChanges(patch, identify);
  if (changes.replaces) return changes.items.map((item) => rule.mergeElement({}, item));
  const remaining = original.filter((item) => !changes.deleted.has(identify(item)));
  const merged = mergeItems(remaining as JsonObject[], changes.items, rule, identify);
  return arrange(merged, changes.items.map(identify), original.map(identify), identify);
}

interface ListPatch {
  /** Elements that are merged or added. */
  readonly items: JsonObject[];
  readonly deleted: ReadonlySet<string>;
  /** Whether the items replace the whole list. */
  readonly replaces: boolean;
}

function readChanges(patch: readonly JsonValue[], identify: Identify): ListPatch {
  const items: JsonObject[] = [];
  const deleted = new Set<string>();
  let replaces = false;
  for (const item of patch as readonly JsonObject[]) {
    const directive = directiveOf(item);
    if (directive === "delete") deleted.add(identify(item));
    else if (directive === "replace") replaces = true;
    else items.push(item);
  }
  return { items, deleted, replaces };
}

function mergeItems(
  original: readonly JsonObject[],
  changes: readonly JsonObject[],
  rule: ListRule,
  identify: Identify,
): JsonObject[] {
  const merged = [...original];
  const indexes = new Map<string, number>();
  merged.forEach((item, index) => {
    const identity = identify(item);
    // Changes are merged into the first of several elements with the same key.
    if (!indexes.has(identity)) indexes.set(identity, index);
  });
  for (const change of changes) {
    const identity = identify(change);
    const index = indexes.get(identity);
    if (index === undefined) {
      indexes.set(identity, merged.length);
      merged.push(rule.mergeElement({}, change));
    } else {
      merged[index] = rule.mergeElement(merged[index]!, change);
    }
  }
  return merged;
}

/** Returns the list without the scalars in `$deleteFromPrimitiveList`. */
export function deleteFromList(
  list: readonly JsonValue[],
  deleted: readonly JsonValue[],
  name: string,
): JsonValue[] {
  const identities = new Set(deleted.map((item) => scalarIdentity(item, name)));
  return list.filter((item) => !identities.has(scalarIdentity(item, name)));
}

/** The input of `$setElementOrder`. */
export interface OrderedLists {
  /** The list before the patch. */
  readonly live: JsonValue | undefined;
  /** The list in the patch. */
  readonly patch: JsonValue | undefined;
  /** The order in the directive. */
  readonly order: readonly JsonValue[];
}

/** Sorts a merged list by `$setElementOrder`, which must not contradict the order of the patch's list. */
export function orderList(
  merged: readonly JsonValue[],
  { live, patch, order }: OrderedLists,
  rule: ListRule,
): JsonValue[] {
  const identify = identifyBy(merged, order, rule);
  const listed = order.map(identify);
  if (Array.isArray(patch)) checkOrder(patch, listed, identify, rule.name);
  return arrange(merged, listed, Array.isArray(live) ? live.map(identify) : [], identify);
}

function checkOrder(
  patch: readonly JsonValue[],
  listed: readonly string[],
  identify: Identify,
  name: string,
): void {
  let at = 0;
  for (const item of patch) {
    if (isObject(item) && directiveOf(item) !== "merge") continue;
    const identity = identify(item);
    while (at < listed.length && listed[at] !== identity) at++;
    if (at++ === listed.length)
      throw malformedPatch(`$setElementOrder/${name} doesn't agree with the order of ${name}`);
  }
}

/**
 * Sorts a merged list: elements of the patch are in the order of the patch, all others in the order of the live list. One of the
 * others is before an element of the patch if it was before that element in the live list, as far as both orders allow.
 */
function arrange(
  merged: readonly JsonValue[],
  listed: readonly string[],
  live: readonly string[],
  identify: Identify,
): JsonValue[] {
  const listedRank = ranks(listed);
  const liveRank = ranks(live);
  const entries = merged.map((item) => ({ item, identity: identify(item) }));
  const first = entries.filter(({ identity }) => listedRank.has(identity));
  const rest = entries.filter(({ identity }) => !listedRank.has(identity));
  first.sort((a, b) => listedRank.get(a.identity)! - listedRank.get(b.identity)!);
  const result: JsonValue[] = [];
  let next = 0;
  for (const { item, identity } of first) {
    const rank = liveRank.get(identity) ?? -1;
    while (next < rest.length && (liveRank.get(rest[next]!.identity) ?? Infinity) < rank)
      result.push(rest[next++]!.item);
    result.push(item);
  }
  while (next < rest.length) result.push(rest[next++]!.item);
  return result;
}

function ranks(identities: readonly string[]): ReadonlyMap<string, number> {
  const result = new Map<string, number>();
  identities.forEach((identity, rank) => {
    if (!result.has(identity)) result.set(identity, rank);
  });
  return result;
}

function unique(items: readonly JsonValue[], identify: Identify): JsonValue[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const identity = identify(item);
    if (seen.has(identity)) return false;
    seen.add(identity);
    return true;
  });
}

/**
 * Returns the function that identifies the elements of both lists.
 *
 * @throws PatchFault inapplicable if the lists can't be merged.
 */
function identifyBy(
  original: readonly JsonValue[],
  patch: readonly JsonValue[],
  { mergeKey, name }: ListRule,
): Identify {
  if (mergeKey === undefined) return (item) => scalarIdentity(item, name);
  for (const item of original) if (!isObject(item)) throw notObjects(name);
  for (const item of patch) if (!isObject(item)) throw notObjects(name);
  return (item) => {
    const value = isObject(item) ? getMember(item, mergeKey) : undefined;
    // An element with a directive for the whole list needs no key.
    if (value === undefined && isObject(item) && directiveOf(item) === "replace") return "";
    if (value === undefined)
      throw inapplicablePatch(`an element of ${name} has no ${mergeKey}, which is its merge key`);
    return scalarIdentity(value, `${name}.${mergeKey}`);
  };
}

function notObjects(name: string): Error {
  return inapplicablePatch(`the elements of ${name} must be objects`);
}

function scalarIdentity(value: JsonValue, name: string): string {
  if (typeof value === "object" && value !== null)
    throw inapplicablePatch(`the elements of ${name} must be scalars`);
  return typeof value === "string" ? `"${value}` : String(value);
}
