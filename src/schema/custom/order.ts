import type { JsonObject, JsonValue } from "../../base/json/value.ts";
import { setMember } from "../../base/json/value.ts";

/** A JSON value with the members of all its objects sorted by name, so that equal values have equal bytes. */
export function sortedValue(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const sorted = value.map(sortedValue);
    return sorted.every((item, index) => item === value[index]) ? value : sorted;
  }
  return sortedObject(value);
}

/** As {@link sortedValue}; shares with its input what is sorted already, which may be all of it. */
function sortedObject(object: JsonObject): JsonObject {
  const names = Object.keys(object);
  const order = names.toSorted();
  const values = order.map((name) => sortedValue(object[name]!));
  const same = order.every((name, index) => name === names[index] && values[index] === object[name]);
  if (same) return object;
  const result: JsonObject = {};
  for (const [index, name] of order.entries()) setMember(result, name, values[index]!);
  return result;
}
