import { deepEqual, setMember, type JsonObject as Json, type JsonValue } from "../../base/json/value.ts";
import { elementOfItem, partsOf, sameKeys } from "./parts.ts";
import { valueElement } from "./field-set.ts";
import type { Shape } from "./shape.ts";

type JsonObject = Record<string, unknown>;

/**
 * What stands with what is applied over it: what is owned as one is replaced, everything else is merged. Items keep the
 * order in which they stand; new ones follow in the order in which they are applied. Neither input is changed; the result
 * shares parts with both, and is what stands where that has all that is applied.
 */
export function mergeTyped(live: unknown, applied: unknown, shape: Shape): unknown {
  if (applied === undefined) return live;
  if (live === undefined || live === null || applied === null) return applied;
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
      return mergeItems(live as unknown[], applied as unknown[], shape);
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

/** Of equal values that stand, those that are applied become one. */
function mergeSet(live: readonly unknown[], applied: readonly unknown[]): readonly unknown[] {
  const left = new Set(applied.map(valueElement));
  const wanted = new Set(left);
  const standing = live.filter((value) => {
    const element = valueElement(value);
    return !wanted.has(element) || left.delete(element);
  });
  return unlessSame([...standing, ...applied.filter((value) => left.has(valueElement(value)))], live);
}

/** Whether the items of two lists are the same, one by one, as they mostly are; those of the second are unique. */
function areAligned(
  live: readonly unknown[],
  applied: readonly unknown[],
  shape: Shape & { kind: "items" },
): boolean {
  return live.length === applied.length && live.every((item, index) => sameKeys(item, applied[index], shape));
}

function unlessSame(list: readonly unknown[], live: readonly unknown[]): readonly unknown[] {
  return list.length === live.length && list.every((item, index) => item === live[index]) ? live : list;
}

/** Of items with equal keys that stand, those that are applied become one: else one could hide what was applied. */
function mergeItems(
  live: readonly unknown[],
  applied: readonly unknown[],
  shape: Shape & { kind: "items" },
): readonly unknown[] {
  if (areAligned(live, applied, shape)) {
    return unlessSame(
      live.map((item, index) => mergeTyped(item, applied[index], shape.element)),
      live,
    );
  }
  const wanted = new Map(
    (partsOf(applied, shape, "lenient") ?? []).map(({ element, value }) => [element, value]),
  );
  const left = new Map(wanted);
  const result: unknown[] = [];
  for (const item of live) {
    const element = elementOfItem(item, shape, "lenient");
    if (element === undefined || !wanted.has(element)) result.push(item);
    else if (left.delete(element)) result.push(mergeTyped(item, wanted.get(element), shape.element));
  }
  result.push(...left.values());
  return unlessSame(result, live);
}
