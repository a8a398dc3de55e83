/**
 * Returns the elements that all lists have, in the order of the first one.
 */
export function commonOrder(
  list: ReadonlyMap<string, unknown>,
  ...others: ReadonlyMap<string, unknown>[]
): string[] {
  return [...list.keys()].filter((element) => others.every((other) => other.has(element)));
}

export function sameOrder(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((element, index) => element === b[index]);
}

/**
 * Puts elements into the order of another list; all other elements keep their positions.
 *
 * @param order some of the elements.
 */
export function reordered(elements: readonly string[], order: readonly string[]): string[] {
  const moved = new Set(order);
  let next = 0;
  return elements.map((element) => (moved.has(element) ? order[next++]! : element));
}

/**
 * Adds elements of an earlier list to the current one. Each follows the element that preceded it there, if the current list has it;
 * elements before all of these come first.
 *
 * @param added elements of `earlier` that the current list lacks.
 */
export function withRestored(
  current: readonly string[],
  earlier: readonly string[],
  added: ReadonlySet<string>,
): string[] {
  const present = new Set(current);
  const first: string[] = [];
  const following = new Map<string, string[]>();
  let group = first;
  for (const element of earlier) {
    if (added.has(element)) group.push(element);
    else if (present.has(element)) following.set(element, (group = []));
  }
  return [...first, ...current.flatMap((element) => [element, ...(following.get(element) ?? [])])];
}
