import { deepClone } from "../base/json/value.ts";
import { formatDuration, parseDuration } from "../base/time/duration.ts";
import { formatQuantity, parseQuantity, QuantityFault } from "../base/quantity.ts";
import { parseTime } from "../base/time/timestamps.ts";
import type { ScalarName } from "./types.ts";

/** Converts a scalar to its canonical JSON form. Returns (doesn't throw) an Error for an invalid value. */
export function decodeScalar(name: ScalarName, input: unknown): unknown {
  switch (name) {
    case "string":
      return typeof input === "string" ? input : expected("a string", input);
    case "bool":
      return typeof input === "boolean" ? input : expected("a boolean", input);
    case "int32":
      return integer(input, -2147483648, 2147483647, "a 32-bit integer");
    case "int64":
      return typeof input === "bigint"
        ? longInteger(input)
        : integer(input, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, "a 64-bit integer");
    case "double":
      if (typeof input !== "number" && typeof input !== "bigint") return expected("a number", input);
      return Number.isFinite(Number(input)) ? input : new Error("expected a number of 64 bits");
    case "bytes":
      return typeof input === "string" ? base64(input) : expected("a base64 string", input);
    case "time":
      return typeof input === "string" ? timestamp(input, false) : expected("a time", input);
    case "microTime":
      return typeof input === "string" ? timestamp(input, true) : expected("a time", input);
    case "quantity":
      if (typeof input !== "string" && typeof input !== "number") return expected("a quantity", input);
      return canonicalQuantity(String(input));
    case "duration":
      return typeof input === "string" ? canonicalDuration(input) : expected("a duration", input);
    case "intOrString":
      if (typeof input === "string") return input;
      return integer(input, -2147483648, 2147483647, "an integer or a string");
    case "object":
    case "fieldsV1":
      return isPlainObject(input) ? input : expected("an object", input);
    case "json":
      return deepClone(input);
  }
}

/** Returns the JSON value of an absent scalar that is always written. */
export function zeroOf(name: ScalarName): unknown {
  switch (name) {
    case "string":
      return "";
    case "duration":
      return "0s";
    case "bool":
      return false;
    case "int32":
    case "int64":
    case "double":
    case "intOrString":
      return 0;
    case "quantity":
      return "0";
    default:
      return null;
  }
}

/** Fast path: small whole numbers with a suffix are already canonical. */
const canonicalForm = /^(?:0|[1-9]\d{0,2}(?:[mkMGT]|[KMGT]i)?)$/;

function canonicalQuantity(text: string): string | Error {
  if (canonicalForm.test(text)) return text;
  try {
    return formatQuantity(parseQuantity(text));
  } catch (error) {
    if (error instanceof QuantityFault) return error;
    throw error;
  }
}

function canonicalDuration(text: string): string | Error {
  const nanos = parseDuration(text);
  if (nanos === undefined)
    return new Error(`expected a duration such as 1h30m, got ${JSON.stringify(text.slice(0, 64))}`);
  return formatDuration(nanos);
}

function expected(expectedType: string, input: unknown): Error {
  return new Error(`expected ${expectedType}, got ${describe(input)}`);
}

function isPlainObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function integer(input: unknown, min: number, max: number, expectedType: string): number | Error {
  if (typeof input === "bigint") return new Error(`expected ${expectedType}, got ${input}`);
  if (typeof input !== "number") return expected(expectedType, input);
  if (!Number.isInteger(input) || input < min || input > max)
    return new Error(`expected ${expectedType}, got ${input}`);
  return input === 0 ? 0 : input;
}

/** Checks an integer outside of the safe range of `number`. */
function longInteger(input: bigint): bigint | Error {
  return BigInt.asIntN(64, input) === input ? input : new Error(`expected a 64-bit integer, got ${input}`);
}

const base64Form = /^[A-Za-z0-9+/]*={0,2}$/;

function base64(input: string): string | Error {
  const text = input.includes("\n") || input.includes("\r") ? input.replaceAll(/[\r\n]/g, "") : input;
  if (text.length % 4 !== 0 || !base64Form.test(text))
    return new Error("expected base64 text (RFC 4648, padded)");
  return text;
}

function timestamp(input: string, micro: boolean): string | Error {
  const timeMs = parseTime(input);
  if (timeMs === undefined) return new Error(`expected an RFC 3339 time, got ${JSON.stringify(input)}`);
  // Fast path: the input is already canonical.
  if (!micro && input.length === 20 && input.endsWith("Z") && input[10] === "T") return input;
  const text = new Date(Math.floor(timeMs / 1000) * 1000).toISOString();
  // `toISOString` writes years outside of 0000 to 9999 with a sign and six digits.
  if (text.length !== 24) return new Error(`expected a year from 0000 to 9999, got ${JSON.stringify(input)}`);
  const seconds = text.slice(0, 19);
  return micro
    ? `${seconds}.${(/\.\d+/.exec(input)?.[0] ?? ".").slice(1, 7).padEnd(6, "0")}Z`
    : `${seconds}Z`;
}

/** Returns the JSON type of a value for messages. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  switch (typeof value) {
    case "string":
      return "a string";
    case "boolean":
      return "a boolean";
    case "number":
    case "bigint":
      return "a number";
    default:
      return "an object";
  }
}
