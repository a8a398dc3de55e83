import { isUtf8 } from "node:buffer";
import { declareFunction, traversal, type CelFunction } from "./function-table.ts";
import { sizeOf, type Meter } from "../costs/meter.ts";
import {
  checkedTime,
  parseCelDuration,
  durationText,
  parseTimestamp,
  timestampText,
} from "../values/times.ts";
import {
  CelList,
  CelMap,
  characterCount,
  checkedInt,
  checkedUint,
  Duration,
  Fault,
  noOverload,
  OpaqueValue,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  Url,
  type Value,
} from "../values/values.ts";
import {
  bool,
  bytes,
  double,
  duration,
  dyn,
  int,
  listOf,
  mapOf,
  nullType,
  optionalOf,
  string,
  timestamp,
  typeOf,
  uint,
  urlType,
  type CelType,
} from "../types/types.ts";

const perSecond = 1_000_000_000n;

function toInt(value: Value): Value {
  if (typeof value === "bigint") return value;
  if (value instanceof Uint) return checkedInt(value.value);
  if (value instanceof Timestamp) return floorDivide(value.nanos);
  if (value instanceof Duration) return value.nanos;
  if (typeof value === "number") {
    // As in Kubernetes, the largest double below 2^63 and -2^63 are out of range.
    return value > -(2 ** 63) && value < 2 ** 63 ? BigInt(Math.trunc(value)) : new Fault("integer overflow");
  }
  if (typeof value !== "string") return noOverload;
  return /^[+-]?\d{1,40}$/.test(value)
    ? checkedInt(BigInt(value.replace("+", "")))
    : conversionFault(value, "int");
}

function floorDivide(nanos: bigint): bigint {
  const seconds = nanos / perSecond;
  return nanos % perSecond < 0n ? seconds - 1n : seconds;
}

function toUint(value: Value): Value {
  if (value instanceof Uint) return value;
  if (typeof value === "bigint") return checkedUint(value);
  if (typeof value === "number") {
    const inRange = value >= 0 && value < 2 ** 64;
    return inRange ? checkedUint(BigInt(Math.trunc(value))) : new Fault("unsigned integer overflow");
  }
  if (typeof value !== "string") return noOverload;
  return /^\d{1,40}$/.test(value) ? checkedUint(BigInt(value)) : conversionFault(value, "uint");
}

/** Digits may be separated by underscores. */
const decimal = /^[+-]?(?:\d(?:_?\d)*(?:\.(?:\d(?:_?\d)*)?)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?$/;
const hexadecimal = /^([+-]?)0[xX]([\da-fA-F]*)(?:\.([\da-fA-F]*))?[pP]([+-]?\d{1,5})$/;
const specialDoubles: ReadonlyMap<string, number> = new Map([
  ["nan", Number.NaN],
  ["inf", Infinity],
  ["+inf", Infinity],
  ["-inf", -Infinity],
  ["infinity", Infinity],
  ["+infinity", Infinity],
  ["-infinity", -Infinity],
]);

function toDouble(value: Value): Value {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Uint) return Number(value.value);
  if (typeof value !== "string") return noOverload;
  const number = value.length <= 512 ? numberOf(value) : undefined;
  if (number !== undefined) return Number.isFinite(number) ? number : conversionFault(value, "double");
  return specialDoubles.get(value.slice(0, 16).toLowerCase()) ?? conversionFault(value, "double");
}

/** Parses a number as Go's `strconv.ParseFloat`; undefined if it is malformed. */
function numberOf(text: string): number | undefined {
  if (decimal.test(text)) return Number(text.replaceAll("_", ""));
  const match = hexadecimal.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = "", fraction = "", exponent] = match;
  if (whole + fraction === "") return undefined;
  const size = Number(BigInt(`0x${whole}${fraction}`)) * 2 ** (Number(exponent) - 4 * fraction.length);
  return sign === "-" ? -size : size;
}

/** Converts a value to a string. */
export function toText(value: Value): Value {
  if (typeof value === "string") return value;
  if (typeof value === "boolean" || typeof value === "bigint") return String(value);
  if (typeof value === "number") return doubleText(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Timestamp) return timestampText(value);
  if (value instanceof Duration) return durationText(value);
  if (value instanceof Url) return value.text;
  if (!(value instanceof Uint8Array)) return noOverload;
  return isUtf8(value)
    ? Buffer.from(value.buffer, value.byteOffset, value.length).toString("utf8")
    : new Fault("invalid UTF-8 in bytes, cannot convert to string");
}

/** Formats a double as Go's `%g` with the fewest digits. */
function doubleText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (Object.is(value, -0)) return "-0";
  const size = Math.abs(value);
  if (value !== 0 && (size < 1e-4 || size >= 1e6)) {
    return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  }
  return String(value);
}

function toBool(value: Value): Value {
  if (typeof value === "boolean") return value;
  if (typeof value !== "string") return noOverload;
  if (["1", "t", "T", "TRUE", "true", "True"].includes(value)) return true;
  if (["0", "f", "F", "FALSE", "false", "False"].includes(value)) return false;
  return conversionFault(value, "bool");
}

/** Meter steps for parsing a time or a duration. */
const stepsToRead = 60;

function toTime(value: Value, meter: Meter): Value {
  if (value instanceof Timestamp) return value;
  if (typeof value === "bigint") return checkedTime(value * perSecond);
  if (typeof value !== "string") return noOverload;
  meter.work(stepsToRead);
  return parseTimestamp(value) ?? conversionFault(value, "timestamp");
}

function toDuration(value: Value, meter: Meter): Value {
  if (value instanceof Duration) return value;
  // As in Kubernetes, this compiles and fails at runtime.
  if (typeof value === "bigint")
    return new Fault("type conversion error from 'int' to 'google.protobuf.Duration'");
  if (typeof value !== "string") return noOverload;
  meter.work(stepsToRead);
  return parseCelDuration(value) ?? conversionFault(value, "duration");
}

function conversionFault(text: string, targetType: string): Fault {
  return new Fault(
    `type conversion error from 'string' to '${targetType}': ${JSON.stringify(text.slice(0, 64))}`,
  );
}

/** Returns the runtime type of a value; as in Kubernetes, objects are maps. */
export function typeOfValue(value: Value): CelType {
  switch (typeof value) {
    case "boolean":
      return bool;
    case "bigint":
      return int;
    case "number":
      return double;
    case "string":
      return string;
    default:
  }
  if (value === null) return nullType;
  if (value instanceof Uint) return uint;
  if (value instanceof Uint8Array) return bytes;
  if (value instanceof CelList) return listOf(dyn);
  if (value instanceof CelMap) return mapOf(dyn, dyn);
  if (value instanceof Timestamp) return timestamp;
  if (value instanceof Duration) return duration;
  if (value instanceof Url) return urlType;
  if (value instanceof OpaqueValue) return value.type;
  if (value instanceof Optional) return optionalOf(dyn);
  return typeOf(dyn);
}

/** Meter steps for converting between string and bytes, in addition to the length. */
const stepsToCopy = 60;

/** A conversion between string and bytes costs by length; any other conversion costs 1. */
const chargeBytes: CelFunction["charge"] = ([value], meter) => {
  meter.work(stepsToCopy);
  meter.charge(value instanceof Uint8Array || typeof value === "string" ? traversal(value.length) : 1);
};
const chargeDecoding: CelFunction["charge"] = ([value], meter) => {
  if (value instanceof Uint8Array) meter.work(stepsToCopy);
  meter.charge(value instanceof Uint8Array ? traversal(value.length) : 1);
};

/** Type conversions, `type` and `size`. */
export const conversions: readonly (readonly [string, CelFunction])[] = [
  [
    "int",
    declareFunction(from("int", "uint", "double", "string", "timestamp", "duration")("int"), ([value]) =>
      toInt(value!),
    ),
  ],
  ["uint", declareFunction(from("uint", "int", "double", "string")("uint"), ([value]) => toUint(value!))],
  [
    "double",
    declareFunction(from("double", "int", "uint", "string")("double"), ([value]) => toDouble(value!)),
  ],
  ["bool", declareFunction(from("bool", "string")("bool"), ([value]) => toBool(value!))],
  [
    "string",
    declareFunction(
      from("string", "bool", "int", "uint", "double", "bytes", "timestamp", "duration")("string"),
      ([value]) => toText(value!),
      { charge: chargeDecoding },
    ),
  ],
  [
    "bytes",
    declareFunction(
      from("bytes", "string")("bytes"),
      ([value]) =>
        typeof value === "string"
          ? Buffer.from(value, "utf8")
          : value instanceof Uint8Array
            ? value
            : noOverload,
      { charge: chargeBytes },
    ),
  ],
  [
    "timestamp",
    declareFunction(from("timestamp", "string", "int")("timestamp"), ([value], meter) =>
      toTime(value!, meter),
    ),
  ],
  [
    "duration",
    declareFunction(from("duration", "string", "int")("duration"), ([value], meter) =>
      toDuration(value!, meter),
    ),
  ],
  ["dyn", declareFunction(["(A) -> dyn"], ([value]) => value!)],
  ["type", declareFunction(["(A) -> type<A>"], ([value]) => new TypeValue(typeOfValue(value!)))],
  [
    "size",
    declareFunction(
      ["string", "bytes", "list<A>", "map<A, B>"].flatMap((type) => [
        `(${type}) -> int`,
        `${type}.() -> int`,
      ]),
      ([value], meter) => {
        if (typeof value === "string") {
          meter.work(value.length >> 2);
          return BigInt(characterCount(value));
        }
        const sized = value instanceof CelList || value instanceof CelMap || value instanceof Uint8Array;
        return sized ? BigInt(sizeOf(value)) : noOverload;
      },
    ),
  ],
];

function from(...types: readonly string[]): (to: string) => string[] {
  return (to) => types.map((type) => `(${type}) -> ${to}`);
}
