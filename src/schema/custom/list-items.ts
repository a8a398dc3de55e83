import { encodeJson } from "../../base/json/encode.ts";
import { isObject, type JsonValue } from "../../base/json/value.ts";
import type { FieldReport } from "../faults.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { checkInTurns } from "../check-in-turns.ts";
import { sortMembers } from "./order.ts";
import type { SchemaNode } from "./schema-node.ts";

/** Reports duplicate items of a set, or duplicate keys of a list map (spec: conventions 4.10). */
export function checkListItems(
  node: SchemaNode,
  list: readonly JsonValue[],
  report: FieldReport,
): MaybePromise<void> {
  const { listType } = node;
  if (listType !== "set" && listType !== "map") return;
  const seen = new Set<string>();
  const perItem = 1 + node.listMapKeys.length;
  return checkInTurns(list, report, (item, index) => {
    report.spend(perItem);
    const key = listType === "set" ? encodeJson(sortMembers(item)) : keyText(node, item);
    if (seen.has(key)) report.at(index).duplicate(listType === "set" ? item : keysOf(node, item));
    seen.add(key);
  });
}

/** Returns a text that is equal for items of a list map with equal keys. */
export function keyText(node: SchemaNode, item: JsonValue): string {
  return encodeJson(sortMembers(keysOf(node, item)));
}

/** Returns the key fields of an item in a list map; absent fields are omitted. */
export function keysOf({ listMapKeys }: SchemaNode, item: JsonValue): JsonValue {
  if (!isObject(item)) return item;
  return Object.fromEntries(
    listMapKeys.filter((name) => Object.hasOwn(item, name)).map((name) => [name, item[name]!]),
  );
}
