import { valueElement } from "./field-set.ts";
import { elementOfItem, partsOf, sameKeys } from "./parts.ts";
import type { Shape } from "./shape.ts";

type ItemsShape = Shape & { kind: "items" };

/** Merges two sets of scalars; in the order of {@link mergeItems}. */
export function mergeSet(live: readonly unknown[], applied: readonly unknown[]): readonly unknown[] {
  const appliedByElement = new Map(applied.map((value) => [valueElement(value), value]));
  return unlessSame(
    inAppliedOrder(live, live.map(valueElement), appliedByElement, (mine) => mine),
    live,
  );
}

/**
 * Merges two lists of items that are told apart by keys (spec: conventions 4.10). The result has the applied items in the
 * order in which they are applied. An item that only the live list has keeps its place before the next item that both lists
 * have, as far as the applied order allows: `[b, new, a]` applied over the live `[x, a, y, b]` gives `[x, y, b, new, a]`.
 *
 * Equal live items that are applied are merged into one, because otherwise one of them could hide the applied one.
 *
 * @param merge merges two values of a shape.
 */
export function mergeItems(
  live: readonly unknown[],
  applied: readonly unknown[],
  shape: ItemsShape,
  merge: (live: unknown, applied: unknown, shape: Shape) => unknown,
): readonly unknown[] {
  if (areAligned(live, applied, shape)) {
    return unlessSame(
      live.map((item, index) => merge(item, applied[index], shape.element)),
      live,
    );
  }
  const appliedItems = new Map(
    (partsOf(applied, shape, "lenient") ?? []).map(({ element, value }) => [element, value]),
  );
  const elements = live.map((item) => elementOfItem(item, shape, "lenient"));
  return unlessSame(
    inAppliedOrder(live, elements, appliedItems, (item, over) => merge(item, over, shape.element)),
    live,
  );
}

/** Whether the items of two lists are the same, one by one, as they mostly are; those of the second are unique. */
function areAligned(live: readonly unknown[], applied: readonly unknown[], shape: ItemsShape): boolean {
  return live.length === applied.length && live.every((item, index) => sameKeys(item, applied[index], shape));
}

function unlessSame(list: readonly unknown[], live: readonly unknown[]): readonly unknown[] {
  return list.length === live.length && list.every((item, index) => item === live[index]) ? live : list;
}

/**
 * @param elements those of the live items; undefined for an item that has none.
 * @param appliedItems the applied items by their elements, in order.
 * @param merge merges a live item with the applied one of the same element.
 */
function inAppliedOrder(
  live: readonly unknown[],
  elements: readonly (string | undefined)[],
  appliedItems: ReadonlyMap<string, unknown>,
  merge: (live: unknown, applied: unknown) => unknown,
): unknown[] {
  const both = new Map<string, unknown>();
  for (const [index, element] of elements.entries()) {
    if (element !== undefined && appliedItems.has(element) && !both.has(element))
      both.set(element, live[index]);
  }
  const order = [...appliedItems.keys()].filter((element) => both.has(element));
  const result: unknown[] = [];
  let at = 0;
  let next = 0;
  /** Takes the items that only the live list has, up to the next item that both have. */
  const appendLive = (): void => {
    for (; at < live.length; at++) {
      const element = elements[at];
      if (element === undefined || !appliedItems.has(element)) result.push(live[at]);
      else if (element === order[next]) return;
    }
  };
  for (const [element, value] of appliedItems) {
    appendLive();
    if (element === order[next]) {
      next++;
      result.push(merge(both.get(element), value));
    } else result.push(value);
  }
  appendLive();
  return result;
}
