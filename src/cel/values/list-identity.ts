import { ValueList } from "./collections.ts";
import { valueOfJson } from "./json-values.ts";
import type { Meter } from "../costs/meter.ts";
import { dyn, type ListIdentity } from "../types/types.ts";
import { CelList, CelMap, CelObject, Duration, Timestamp, Uint, type Value } from "./values.ts";

/** Meter steps for formatting a value. */
const stepsPerValue = 20;

/**
 * Whether two lists of the same length (sets or list maps) have equal items in any order.
 *
 * @param equal compares two items.
 */
export function equalItems(
  a: CelList,
  identity: ListIdentity,
  b: CelList,
  meter: Meter,
  equal: (a: Value, b: Value, meter: Meter) => boolean,
): boolean {
  const itemsByIdentity = new Map<string, Value>();
  for (let at = 0; at < a.size; at++)
    itemsByIdentity.set(identityText(a.get(at), identity, meter), a.get(at));
  for (let at = 0; at < b.size; at++) {
    const item = b.get(at);
    const counterpart = itemsByIdentity.get(identityText(item, identity, meter));
    if (counterpart === undefined || !equal(counterpart, item, meter)) return false;
  }
  return true;
}

/** Merges two lists (sets or list maps): items of `b` replace items of `a` with the same identity; the others are appended. */
export function mergeItems(a: CelList, identity: ListIdentity, b: CelList, meter: Meter): CelList {
  const merged = new Map<string, Value>();
  for (const list of [a, b]) {
    for (let at = 0; at < list.size; at++) {
      const item = list.get(at);
      merged.set(identityText(item, identity, meter), item);
    }
  }
  return new ValueList([...merged.values()], identity);
}

/** Returns a string that is equal for items with the same identity. */
function identityText(item: Value, identity: ListIdentity, meter: Meter): string {
  if (identity === "set" || !(item instanceof CelMap)) return textOf(item, meter);
  return JSON.stringify(identity.map((name) => textOf(item.select(name) ?? null, meter)));
}

/** Returns a string that is equal for equal values only. */
function textOf(value: Value, meter: Meter): string {
  meter.work(stepsPerValue);
  switch (typeof value) {
    case "string":
      meter.work(value.length >> 4);
      return `s${value}`;
    case "bigint":
      return `n${value}`;
    case "number":
      return Number.isInteger(value) ? `n${BigInt(value)}` : `n${value}`;
    case "boolean":
      return String(value);
    default:
      return value === null ? "null" : textOfObject(value, meter);
  }
}

function textOfObject(value: Value & object, meter: Meter): string {
  if (value instanceof CelList) {
    const items: string[] = [];
    for (let at = 0; at < value.size; at++) items.push(textOf(value.get(at), meter));
    return `l${JSON.stringify(items)}`;
  }
  // Undeclared and null members are part of the identity too.
  if (value instanceof CelObject && value.keys().length !== value.size) {
    return textOf(valueOfJson(value.members, dyn), meter);
  }
  if (value instanceof CelMap) {
    const entries = value.keys().map((key) => [textOf(key, meter), textOf(value.get(key)!, meter)]);
    return `m${JSON.stringify(entries.toSorted())}`;
  }
  if (value instanceof Timestamp || value instanceof Duration) return `t${value.nanos}`;
  if (value instanceof Uint) return `n${value.value}`;
  return value instanceof Uint8Array ? `b${Buffer.from(value).toString("base64")}` : "?";
}
