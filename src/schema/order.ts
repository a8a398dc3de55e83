import { setMember, type JsonObject, type JsonValue } from "../base/json/value.ts";
import { sortedValue } from "./custom/order.ts";
import { placesOf } from "./places.ts";
import type { StructType, Type } from "./types.ts";
import { formOf } from "./unions.ts";

/**
 * A value with its fields in declared order and the keys of its maps sorted, so that equal objects have equal bytes
 * however they came about; a list without items that is written all the same is null. Shares with its input what is in order already, which may be all of it; fields that the type
 * doesn't declare are dropped.
 */
export function inOrder(type: StructType, value: Record<string, unknown>): Record<string, unknown> {
  if (type.open !== undefined) return openInOrder(type, value);
  return fieldsInOrder(type, value);
}

/** As {@link inOrder}, of a type with members beside its fields: these follow, sorted by name. */
function openInOrder(type: StructType, value: Record<string, unknown>): Record<string, unknown> {
  const result = { ...fieldsInOrder(type, value) };
  for (const name of Object.keys(value).toSorted()) {
    if (Object.hasOwn(type.fields, name) || value[name] === undefined) continue;
    setMember(result as JsonObject, name, sortedValue(value[name] as JsonValue));
  }
  return result;
}

function fieldsInOrder(type: StructType, value: Record<string, unknown>): Record<string, unknown> {
  const { names, fields, places, slots, always } = placesOf(type);
  let last = -1;
  let changed = false;
  const ordered = slots.slice();
  for (const name in value) {
    const given = value[name];
    const place = places.get(name);
    if (given === undefined || place === undefined || place < last) changed = true;
    if (given === undefined || place === undefined) continue;
    last = place;
    // A list that is written though it is empty has no items in the reference's stored form, which is shown as null.
    const isNone = always[place] === true && Array.isArray(given) && given.length === 0;
    ordered[place] = isNone ? null : valueInOrder(fields[place]!.type, given);
    if (ordered[place] !== given) changed = true;
  }
  if (!changed) return value;
  const result: Record<string, unknown> = {};
  for (const [place, name] of names.entries()) {
    if (ordered[place] !== undefined) result[name] = ordered[place];
  }
  return result;
}

function valueInOrder(type: Type, value: unknown): unknown {
  if (value === null) return null;
  switch (type.shape) {
    case "scalar":
      return value;
    case "struct":
      return inOrder(type, value as Record<string, unknown>);
    case "union": {
      const form = formOf(type, value);
      return form === undefined ? value : valueInOrder(form.type, value);
    }
    case "list": {
      const { element } = type;
      if (element.shape === "scalar") return value;
      const items = value as readonly unknown[];
      const ordered = items.map((item) => valueInOrder(element, item));
      return ordered.every((item, index) => item === items[index]) ? value : ordered;
    }
    case "map":
      return mapInOrder(type.value, value as Record<string, unknown>);
  }
}

function mapInOrder(element: Type, map: Record<string, unknown>): Record<string, unknown> {
  const keys = Object.keys(map);
  if (element.shape === "scalar" && isSorted(keys)) return map;
  const entries = keys.toSorted().map((key) => [key, valueInOrder(element, map[key])] as const);
  return Object.fromEntries(entries);
}

function isSorted(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if (keys[i - 1]! > keys[i]!) return false;
  return true;
}
