import { encodeJson } from "../../base/json/encode.ts";
import { isObject, type JsonValue } from "../../base/json/value.ts";
import type { FieldReport } from "../faults.ts";
import { sortedValue } from "./order.ts";
import type { SchemaNode } from "./schema-node.ts";

/** The items of a set, or the keys of the items of a map, are different ones (spec: conventions 4.10). */
export function checkListItems(node: SchemaNode, list: readonly JsonValue[], place: FieldReport): void {
  const { listType } = node;
  if (listType !== "set" && listType !== "map") return;
  const seen = new Set<string>();
  place.spend(list.length * node.listMapKeys.length);
  if (place.full) return;
  for (const [index, item] of list.entries()) {
    const key = encodeJson(sortedValue(listType === "set" ? item : keysOf(node, item)));
    if (seen.has(key)) place.at(index).duplicate(listType === "set" ? item : keysOf(node, item));
    seen.add(key);
  }
}

/** The members by which an item is told apart; those that it lacks are left out. */
export function keysOf({ listMapKeys }: SchemaNode, item: JsonValue): JsonValue {
  if (!isObject(item)) return item;
  return Object.fromEntries(
    listMapKeys.filter((name) => Object.hasOwn(item, name)).map((name) => [name, item[name]!]),
  );
}
