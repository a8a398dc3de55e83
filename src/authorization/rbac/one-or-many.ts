/**
 * A set that saves memory for zero or one item: undefined or the item itself. `T` must not be a Set.
 */
export type OneOrMany<T extends object> = T | Set<T> | undefined;

/** Adds an item; returns the set, which may be the same instance. */
export function withItem<T extends object>(set: OneOrMany<T>, item: T): OneOrMany<T> {
  if (set === undefined || set === item) return item;
  if (set instanceof Set) return set.add(item);
  return new Set<T>().add(set).add(item);
}

/** Removes an item; returns the set, which may be the same instance. */
export function withoutItem<T extends object>(set: OneOrMany<T>, item: T): OneOrMany<T> {
  if (set instanceof Set) {
    set.delete(item);
    return set.size === 0 ? undefined : set;
  }
  return set === item ? undefined : set;
}

/** Returns the item that was added first. */
export function firstItem<T extends object>(set: OneOrMany<T>): T | undefined {
  if (!(set instanceof Set)) return set;
  for (const item of set) return item;
  return undefined;
}

/** Returns the items in the order in which they were added. */
export function itemsOf<T extends object>(set: OneOrMany<T>): Iterable<T> {
  if (set === undefined) return [];
  return set instanceof Set ? set : [set];
}
