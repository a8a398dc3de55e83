import { Cidr, IpAddress } from "../../../src/cel/values/ip-addresses.ts";
import {
  CelList,
  CelMap,
  Duration,
  Fault,
  OpaqueValue,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from "../../../src/cel/values/values.ts";
import { typeText } from "../../../src/cel/types/types.ts";
import { durationText, timestampText } from "../../../src/cel/values/times.ts";

/** Writes a value as the recorder of the reference does: the same text for equal values. */
export function textOf(value: Value): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "bigint":
    case "boolean":
      return String(value);
    case "number":
      return Number.isInteger(value) && Math.abs(value) < 1e15 ? value.toFixed(1) : String(value);
    default:
      return value === null ? "null" : objectText(value);
  }
}

function objectText(value: Value & object): string {
  if (value instanceof Uint) return `${value.value}u`;
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString("hex")}`;
  if (value instanceof Optional)
    return value.value === undefined ? "none" : `optional(${textOf(value.value)})`;
  if (value instanceof IpAddress) return `ip(${value.text})`;
  if (value instanceof Cidr) return `cidr(${value.text})`;
  if (value instanceof OpaqueValue) return value.type.name;
  if (value instanceof TypeValue) return `type(${typeText(value.type).replace(/\(.*/, "")})`;
  if (value instanceof CelList) {
    return `[${Array.from({ length: value.size }, (_, at) => textOf(value.get(at))).join(", ")}]`;
  }
  if (value instanceof CelMap) {
    const entries = value.keys().map((key) => `${textOf(key)}: ${textOf(value.get(key)!)}`);
    return `{${entries.toSorted().join(", ")}}`;
  }
  if (value instanceof Timestamp) return `timestamp(${timestampText(value)})`;
  if (value instanceof Duration) return `duration(${durationText(value)})`;
  return value instanceof Fault ? value.message : "?";
}
