import { deepEqual, setMember, type JsonObject as Json, type JsonValue } from "../../base/json/value.ts";
import { mergeItems, mergeSet } from "./merge-lists.ts";
import { partsOf } from "./parts.ts";
import type { Shape } from "./shape.ts";

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
