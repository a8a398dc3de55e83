/**
 * A set that costs nothing while it is empty and one pointer while it holds a single thing, as most do here. `T` must
 * not itself be a Set.
 */
export type OneOrMany<T extends object> = T | Set<T> | undefined;

/** The set with `item` in it. */
export function withItem<T extends object>(set: OneOrMany<T>, item: T): OneOrMany<T> {
  if (set === undefined || set === item) return item;
  if (set instanceof Set) return set.add(item);
  return new Set<T>().add(set).add(item);
}

/** The set without `item`. */
export function withoutItem<T extends object>(set: OneOrMany<T>, item: T): OneOrMany<T> {
  if (set instanceof Set) {
    set.delete(item);
    return set.size === 0 ? undefined : set;
  }
  return set === item ? undefined : set;
}

/** The item that has been in the set longest. */
export function firstItem<T extends object>(set: OneOrMany<T>): T | undefined {
  if (!(set instanceof Set)) return set;
  for (const item of set) return item;
  return undefined;
}

/** Every item of the set. */
export function itemsOf<T extends object>(set: OneOrMany<T>): Iterable<T> {
  if (set === undefined) return [];
  return set instanceof Set ? set : [set];
}
