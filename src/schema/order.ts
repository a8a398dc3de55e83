import type { StructType, Type } from "./types.ts";
import { formOf } from "./unions.ts";

/**
 * A value with its fields in declared order and the keys of its maps sorted, so that equal objects have equal bytes
 * however they came about. Shares what has no order with its input; fields that the type doesn't declare are dropped.
 */
export function inOrder(type: StructType, value: Record<string, unknown>): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const name in type.fields) {
    const given = value[name];
    if (given !== undefined) result[name] = valueInOrder(type.fields[name]!.type, given);
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
      return element.shape === "scalar"
        ? value
        : (value as unknown[]).map((item) => valueInOrder(element, item));
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
