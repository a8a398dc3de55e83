import { setMember, type JsonObject, type JsonValue } from "../base/json/value.ts";
import { sortMembers } from "./custom/order.ts";
import { fieldPositionsOf } from "./field-positions.ts";
import type { StructType, Type } from "./types.ts";
import { formOf } from "./unions.ts";

/**
 * Returns a value with its fields in declared order and sorted map keys, so that equal objects have equal JSON. An empty list that
 * is always written becomes null. Undeclared fields are dropped. Ordered parts are shared with the input, which may be all of it.
 */
export function inOrder(type: StructType, value: Record<string, unknown>): Record<string, unknown> {
  if (type.open !== undefined) return openInOrder(type, value);
  return fieldsInOrder(type, value);
}

/** As {@link inOrder}, for a type with additional members: they follow the fields, sorted by name. */
function openInOrder(type: StructType, value: Record<string, unknown>): Record<string, unknown> {
  const result = { ...fieldsInOrder(type, value) };
  for (const name of Object.keys(value).toSorted()) {
    if (Object.hasOwn(type.fields, name) || value[name] === undefined) continue;
    setMember(result as JsonObject, name, sortMembers(value[name] as JsonValue));
  }
  return result;
}

function fieldsInOrder(type: StructType, value: Record<string, unknown>): Record<string, unknown> {
  const { fields, positions, always } = fieldPositionsOf(type);
  let last = -1;
  let changed = false;
  let replaced: Map<string, unknown> | undefined;
  for (const name in value) {
    const fieldValue = value[name];
    const position = positions.get(name);
    if (fieldValue === undefined || position === undefined || position < last) changed = true;
    if (fieldValue === undefined || position === undefined) continue;
    last = position;
    // Kubernetes stores an empty list that is always written as nil, which is null in JSON.
    const isNone = always[position] === true && Array.isArray(fieldValue) && fieldValue.length === 0;
    const ordered = isNone ? null : valueInOrder(fields[position]!.type, fieldValue);
    if (ordered !== fieldValue) (replaced ??= new Map<string, unknown>()).set(name, ordered);
  }
  return changed || replaced !== undefined ? sortFields(value, positions, replaced) : value;
}

/** Most values have few of the fields of their type, so their positions are sorted instead of looking up every field. */
function sortFields(
  value: Record<string, unknown>,
  positions: ReadonlyMap<string, number>,
  replaced: ReadonlyMap<string, unknown> | undefined,
): Record<string, unknown> {
  const names = Object.keys(value).filter((name) => value[name] !== undefined && positions.has(name));
  names.sort((a, b) => positions.get(a)! - positions.get(b)!);
  const result: Record<string, unknown> = {};
  for (const name of names) result[name] = replaced?.has(name) === true ? replaced.get(name) : value[name];
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
  const hasOrder = isSorted(keys);
  if (hasOrder && element.shape === "scalar") return map;
  const names = hasOrder ? keys : keys.toSorted();
  const values = names.map((name) => valueInOrder(element, map[name]));
  if (hasOrder && values.every((value, index) => value === map[names[index]!])) return map;
  return Object.fromEntries(names.map((name, index) => [name, values[index]]));
}

function isSorted(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if (keys[i - 1]! > keys[i]!) return false;
  return true;
}
