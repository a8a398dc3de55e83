import { sameType } from "../types/assignability.ts";
import { getMember, type JsonValue } from "../../base/json/value.ts";
import { valueOfJson } from "./json-values.ts";
import { equalItems } from "./list-identity.ts";
import { dyn } from "../types/types.ts";
import type { Meter } from "../costs/meter.ts";
import {
  CelList,
  CelMap,
  CelObject,
  Duration,
  OpaqueValue,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  Url,
  type Value,
} from "./values.ts";

/** Whether two values are equal. Numbers of different types are compared by value; other values of different types are not equal. */
export function equal(a: Value, b: Value, meter: Meter): boolean {
  if (typeof a === "object" && a !== null) return equalObjects(a, b, meter);
  if (a === b) return true;
  const order = numberOrder(a, b);
  return order === 0;
}

function equalObjects(a: Value & object, b: Value, meter: Meter): boolean {
  if (typeof b !== "object" || b === null) return a instanceof Uint && numberOrder(a, b) === 0;
  if (a instanceof CelList) return b instanceof CelList && equalLists(a, b, meter);
  if (a instanceof CelObject && b instanceof CelObject) return equalStructs(a, b, meter);
  if (a instanceof CelMap) return b instanceof CelMap && equalMaps(a, b, meter);
  if (a instanceof Uint) return b instanceof Uint && a.value === b.value;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (a instanceof TypeValue) return b instanceof TypeValue && equalTypes(a, b);
  if (a instanceof Url) return b instanceof Url && a.text === b.text;
  if (a instanceof OpaqueValue)
    return b instanceof OpaqueValue && a.type === b.type && equalOpaque(a, b, meter);
  if (a instanceof Optional) return b instanceof Optional && equalOptionals(a, b, meter);
  return false;
}

function equalOpaque(a: OpaqueValue, b: OpaqueValue, meter: Meter): boolean {
  meter.work(a.stepsToCompare + b.stepsToCompare);
  return a.equals(b);
}

function equalOptionals({ value: a }: Optional, { value: b }: Optional, meter: Meter): boolean {
  return a === undefined || b === undefined ? a === b : equalParts(a, b, meter);
}

/** At runtime, types have no parameters: `list(int)` equals `list(string)`. */
function equalTypes({ type: a }: TypeValue, { type: b }: TypeValue): boolean {
  return (
    a.is === b.is &&
    (a.is === "list" || a.is === "map" || a.is === "optional" || a.is === "type" || sameType(a, b))
  );
}

function equalLists(a: CelList, b: CelList, meter: Meter): boolean {
  if (a.size !== b.size) return false;
  if (a.identity !== undefined) return equalItems(a, a.identity, b, meter, equal);
  for (let at = 0; at < a.size; at++) {
    meter.work(4);
    if (!equalParts(a.get(at), b.get(at), meter)) return false;
  }
  return true;
}

function equalMaps(a: CelMap, b: CelMap, meter: Meter): boolean {
  if (a.size !== b.size) return false;
  for (const key of a.keys()) {
    meter.work(20);
    const other = b.get(key);
    if (other === undefined || !equalParts(a.get(key)!, other, meter)) return false;
  }
  return true;
}

/** Compares fields by their types, and undeclared or inaccessible members as JSON. */
function equalStructs(a: CelObject, b: CelObject, meter: Meter): boolean {
  if (a.size !== b.size) return false;
  let fields = 0;
  for (const name of a.keys()) {
    meter.work(20);
    const other = b.get(name);
    if (other === undefined || !equalParts(a.get(name)!, other, meter)) return false;
    fields++;
  }
  if (fields === a.size) return true;
  const declared = new Set([...a.type.fields.values()].map(({ jsonName }) => jsonName));
  for (const name of Object.keys(a.members)) {
    meter.work(20);
    const own = a.members[name];
    if (own === undefined || (declared.has(name) && own !== null)) continue;
    const other = getMember(b.members, name);
    if (other === undefined || !equalJson(own, other, meter)) return false;
  }
  return true;
}

function equalJson(a: JsonValue, b: JsonValue, meter: Meter): boolean {
  return equalParts(valueOfJson(a, dyn), valueOfJson(b, dyn), meter);
}

/** As {@link equal}, but charges the comparison to the meter. */
function equalParts(a: Value, b: Value, meter: Meter): boolean {
  if (typeof a === "string") meter.work(a.length >> 6);
  return equal(a, b, meter);
}

/**
 * Compares two values: negative, 0 or positive; NaN if one is NaN. Undefined if the values can't be compared.
 */
export function compare(a: Value, b: Value): number | undefined {
  if (typeof a === "string") return typeof b === "string" ? compareText(a, b) : undefined;
  if (typeof a === "boolean") return typeof b === "boolean" ? Number(a) - Number(b) : undefined;
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? Buffer.compare(a, b) : undefined;
  if (a instanceof Timestamp) return b instanceof Timestamp ? order(a.nanos, b.nanos) : undefined;
  if (a instanceof Duration) return b instanceof Duration ? order(a.nanos, b.nanos) : undefined;
  return numberOrder(a, b);
}

/** Compares two numbers of any types; undefined if one isn't a number. */
function numberOrder(a: Value, b: Value): number | undefined {
  const one = a instanceof Uint ? a.value : a;
  const other = b instanceof Uint ? b.value : b;
  if (typeof one !== "bigint" && typeof one !== "number") return undefined;
  if (typeof other !== "bigint" && typeof other !== "number") return undefined;
  if (typeof one === typeof other)
    return Number.isNaN(one) || Number.isNaN(other) ? Number.NaN : order(one, other);
  // An integer is converted to double for the comparison.
  return Number.isNaN(one) || Number.isNaN(other) ? Number.NaN : order(Number(one), Number(other));
}

function order(a: bigint | number, b: bigint | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Compares strings in UTF-8 order, which differs from UTF-16 order for surrogates. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const end = Math.min(a.length, b.length);
  let at = 0;
  while (at < end && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  if (at === end) return a.length - b.length;
  const [one, other] = [a.charCodeAt(at), b.charCodeAt(at)];
  const [oneIsHigh, otherIsHigh] = [isSurrogate(one), isSurrogate(other)];
  if (oneIsHigh !== otherIsHigh) return oneIsHigh ? 1 : -1;
  return one - other;
}

function isSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff;
}
