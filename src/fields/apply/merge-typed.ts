import { deepEqual, setMember, type JsonObject as Json, type JsonValue } from "../../base/json/value.ts";
import { partsOf, elementOfItem, sameKeys } from "./parts.ts";
import type { Shape } from "./shape.ts";
import { valueElement } from "./field-set.ts";

type JsonObject = Record<string, unknown>;

/**
 * Merges an applied value into the live value: atomic values are replaced, granular ones are merged. List items are in the applied
 * order; see {@link mergeItems}. The inputs aren't changed; the result shares parts with both.
 *
 * @returns the live value itself if it already has all applied values in the applied order.
 */
export function mergeTyped(live: unknown, applied: unknown, shape: Shape): unknown {
  if (applied === undefined) return live;
  if (live === undefined || live === null) return applied;
  // Applying null to a granular object or list changes none of its fields.
  if (applied === null) return partsOf(live, shape, "lenient")?.length ? live : null;
  switch (shape.kind) {
    case "leaf":
      return deepEqual(live as JsonValue, applied as JsonValue) ? live : applied;
    case "deduced":
      return isObject(live) && isObject(applied) ? mergeMembers(live, applied, () => shape) : applied;
    case "struct":
      return mergeMembers(live as JsonObject, applied as JsonObject, (name) => shape.member(name));
    case "map":
      return mergeMembers(live as JsonObject, applied as JsonObject, () => shape.element);
    case "set":
      return mergeSet(live as unknown[], applied as unknown[]);
    case "items":
      return mergeItems(live as unknown[], applied as unknown[], shape, mergeTyped);
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function mergeMembers(
  live: JsonObject,
  applied: JsonObject,
  shapeOf: (name: string) => Shape | undefined,
): JsonObject {
  let result: JsonObject | undefined;
  for (const name of Object.keys(applied)) {
    const shape = shapeOf(name);
    if (shape === undefined) continue;
    const before = Object.hasOwn(live, name) ? live[name] : undefined;
    const merged = mergeTyped(before, applied[name], shape);
    if (merged === before && Object.hasOwn(live, name)) continue;
    result ??= { ...live };
    setMember(result as Json, name, merged as JsonValue);
  }
  return result ?? live;
}

type ItemsShape = Shape & { kind: "items" };

/** Merges two sets of scalars. The order is that of {@link mergeItems}. */
function mergeSet(live: readonly unknown[], applied: readonly unknown[]): readonly unknown[] {
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
function mergeItems(
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
