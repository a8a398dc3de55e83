import { valueElement } from "./field-set.ts";
import { elementOfItem, partsOf, sameKeys } from "./parts.ts";
import type { Shape } from "./shape.ts";

type ItemsShape = Shape & { kind: "items" };

/** Merges two sets of scalars. The order is that of {@link mergeItems}. */
export function mergeSet(live: readonly unknown[], applied: readonly unknown[]): readonly unknown[] {
  const appliedByElement = new Map(applied.map((value) => [valueElement(value), value]));
  return liveIfEqual(
    inAppliedOrder(live, live.map(valueElement), appliedByElement, (item) => item),
    live,
  );
}

/**
 * Merges two lists whose items have keys (spec: conventions 4.10). The result has the applied items in the applied order. An item
 * that only the live list has stays before the next item that both lists have, if the applied order allows it: `[b, new, a]`
 * applied to the live `[x, a, y, b]` gives `[x, y, b, new, a]`.
 *
 * Live items with the same keys as an applied item are merged into one; a remaining duplicate could hide the applied item.
 *
 * @param merge merges a live and an applied value of a shape.
 */
export function mergeItems(
  live: readonly unknown[],
  applied: readonly unknown[],
  shape: ItemsShape,
  merge: (live: unknown, applied: unknown, shape: Shape) => unknown,
): readonly unknown[] {
  if (areAligned(live, applied, shape)) {
    return liveIfEqual(
      live.map((item, index) => merge(item, applied[index], shape.element)),
      live,
    );
  }
  const appliedItems = new Map(
    (partsOf(applied, shape, "lenient") ?? []).map(({ element, value }) => [element, value]),
  );
  const elements = live.map((item) => elementOfItem(item, shape, "lenient"));
  return liveIfEqual(
    inAppliedOrder(live, elements, appliedItems, (item, appliedItem) =>
      merge(item, appliedItem, shape.element),
    ),
    live,
  );
}

/** Whether both lists have items with the same keys in the same order, which is the usual case. The applied items are unique. */
function areAligned(live: readonly unknown[], applied: readonly unknown[], shape: ItemsShape): boolean {
  return live.length === applied.length && live.every((item, index) => sameKeys(item, applied[index], shape));
}

function liveIfEqual(list: readonly unknown[], live: readonly unknown[]): readonly unknown[] {
  return list.length === live.length && list.every((item, index) => item === live[index]) ? live : list;
}

/**
 * Merges live and applied items in the order described at {@link mergeItems}.
 *
 * @param elements path elements of the live items; undefined for an item without keys.
 * @param appliedItems the applied items by path element, in order.
 * @param merge merges a live item with the applied item of the same path element.
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
  let liveIndex = 0;
  let next = 0;
  /** Appends the items that only the live list has, up to the next item that both lists have. */
  const appendLive = (): void => {
    for (; liveIndex < live.length; liveIndex++) {
      const element = elements[liveIndex];
      if (element === undefined || !appliedItems.has(element)) result.push(live[liveIndex]);
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
