import type { JsonObject, JsonValue } from "../../base/json/value.ts";
import { setMember } from "../../base/json/value.ts";

/** Sorts the members of all objects in a JSON value by name, so that equal values have equal JSON. */
export function sortMembers(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const sorted = value.map(sortMembers);
    return sorted.every((item, index) => item === value[index]) ? value : sorted;
  }
  return sortObject(value);
}

/** As {@link sortMembers}; sorted parts are shared with the input, which may be all of it. */
function sortObject(object: JsonObject): JsonObject {
  const names = Object.keys(object);
  const order = names.toSorted();
  const values = order.map((name) => sortMembers(object[name]!));
  const same = order.every((name, index) => name === names[index] && values[index] === object[name]);
  if (same) return object;
  const result: JsonObject = {};
  for (const [index, name] of order.entries()) setMember(result, name, values[index]!);
  return result;
}
