import { formatDuration, parseDuration } from "../base/duration.ts";
import { formatQuantity, parseQuantity, QuantityFault } from "../base/quantity.ts";
import type { ScalarName } from "./types.ts";

/** Reads one scalar into its canonical JSON form; an Error (not thrown) says what is wrong with it. */
export function decodeScalar(name: ScalarName, given: unknown): unknown {
  switch (name) {
    case "string":
      return typeof given === "string" ? given : expected("a string", given);
    case "bool":
      return typeof given === "boolean" ? given : expected("a boolean", given);
    case "int32":
      return integer(given, -2147483648, 2147483647, "a 32-bit integer");
    case "int64":
      return typeof given === "bigint"
        ? longInteger(given)
        : integer(given, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, "a 64-bit integer");
    case "double":
      if (typeof given !== "number" && typeof given !== "bigint") return expected("a number", given);
      return Number.isFinite(Number(given)) ? given : new Error("expected a number of 64 bits");
    case "bytes":
      return typeof given === "string" ? base64(given) : expected("a base64 string", given);
    case "time":
      return typeof given === "string" ? timestamp(given, false) : expected("a time", given);
    case "microTime":
      return typeof given === "string" ? timestamp(given, true) : expected("a time", given);
    case "quantity":
      if (typeof given !== "string" && typeof given !== "number") return expected("a quantity", given);
      return canonicalQuantity(String(given));
    case "duration":
      return typeof given === "string" ? canonicalDuration(given) : expected("a duration", given);
    case "intOrString":
      if (typeof given === "string") return given;
      return integer(given, -2147483648, 2147483647, "an integer or a string");
    case "object":
    case "fieldsV1":
      return isPlainObject(given) ? given : expected("an object", given);
    case "json":
      return given;
  }
}

/** The JSON value of an absent scalar that must be written. */
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

/** Most quantities are small whole numbers with a suffix, as they should be written. */
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

function expected(what: string, given: unknown): Error {
  return new Error(`expected ${what}, got ${describe(given)}`);
}

function isPlainObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function integer(given: unknown, min: number, max: number, what: string): number | Error {
  if (typeof given === "bigint") return new Error(`expected ${what}, got ${given}`);
  if (typeof given !== "number") return expected(what, given);
  if (!Number.isInteger(given) || given < min || given > max)
    return new Error(`expected ${what}, got ${given}`);
  return given === 0 ? 0 : given;
}

/** An integer that a number can't hold exactly. */
function longInteger(given: bigint): bigint | Error {
  return BigInt.asIntN(64, given) === given ? given : new Error(`expected a 64-bit integer, got ${given}`);
}

const base64Form = /^[A-Za-z0-9+/]*={0,2}$/;

function base64(given: string): string | Error {
  const text = given.includes("\n") || given.includes("\r") ? given.replaceAll(/[\r\n]/g, "") : given;
  if (text.length % 4 !== 0 || !base64Form.test(text))
    return new Error("expected base64 text (RFC 4648, padded)");
  return text;
}

const timeForm = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

function timestamp(given: string, micro: boolean): string | Error {
  const match = timeForm.exec(given);
  const at = match === null ? Number.NaN : Date.parse(given.toUpperCase());
  if (match === null || Number.isNaN(at) || !isOnCalendar(given))
    return new Error(`expected an RFC 3339 time, got ${JSON.stringify(given)}`);
  // Twenty characters that end in Z are the canonical form itself.
  if (!micro && given.length === 20 && given.endsWith("Z") && given[10] === "T") return given;
  const text = new Date(Math.floor(at / 1000) * 1000).toISOString();
  // Years of more or fewer digits have a sign.
  if (text.length !== 24) return new Error(`expected a year from 0000 to 9999, got ${JSON.stringify(given)}`);
  const seconds = text.slice(0, 19);
  return micro ? `${seconds}.${(match[1] ?? ".").slice(1, 7).padEnd(6, "0")}Z` : `${seconds}Z`;
}

/** Whether there is such a day and such an hour: 30 February and 24:00 are nowhere. */
function isOnCalendar(given: string): boolean {
  const local = `${given.slice(0, 10)}T${given.slice(11, 19)}`;
  const at = Date.parse(`${local}Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().slice(0, 19) === local;
}

/** The JSON type of a value, in words. */
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
