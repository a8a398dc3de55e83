import { toText, typeOfValue } from "../functions/conversions.ts";
import type { Meter } from "../costs/meter.ts";
import { typeText, type CelType } from "../types/types.ts";
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
} from "./values.ts";

const maxPrecision = 100;
const defaultPrecision = 6;
/** Maximum nesting of lists and maps. */
const maxNesting = 250;
/** Meter steps per argument or item. */
const stepsPerItem = 30;

const clause = /%(?:%|(?:\.(\d{1,9}))?([sdfebxXo]))?/g;

type TypeName = CelType["is"];

/** A clause: the types that it accepts, and the error for others. */
interface Clause {
  readonly accepts: ReadonlySet<TypeName>;
  readonly rule: string;
}

/** Types of values with a text. */
const textTypes = "list map int uint double bool string timestamp bytes duration type null".split(
  " ",
) as TypeName[];

const clauses = {
  s: {
    accepts: new Set(textTypes),
    rule: "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps",
  },
  d: { accepts: new Set(["int", "uint"]), rule: "decimal clause can only be used on integers" },
  f: { accepts: new Set(["double", "string"]), rule: "fixed-point clause can only be used on doubles" },
  e: { accepts: new Set(["double", "string"]), rule: "scientific clause can only be used on doubles" },
  b: {
    accepts: new Set(["int", "uint", "bool"]),
    rule: "only integers and bools can be formatted as binary",
  },
  o: { accepts: new Set(["int", "uint"]), rule: "octal clause can only be used on integers" },
  x: {
    accepts: new Set(["int", "uint", "string", "bytes"]),
    rule: "only integers, byte buffers, and strings can be formatted as hex",
  },
} as const satisfies Readonly<Record<string, Clause>>;

/** A value that a clause can't format. */
class FormatError extends Error {
  override name = "FormatError";
}

/** Formats values by the clauses of a text: `%s`, `%d`, `%f`, `%e`, `%b`, `%x`, `%X`, `%o` and `%%`. */
export function formatText(text: string, args: CelList, meter: Meter): Value {
  meter.work(text.length);
  const pieces: string[] = [];
  let [last, next] = [0, 0];
  const add = (piece: string): void => {
    meter.work(stepsPerItem);
    countCopy(piece.length, meter);
    pieces.push(piece);
  };
  try {
    for (const { 0: whole, 1: precision, 2: letter, index } of text.matchAll(clause)) {
      add(text.slice(last, index));
      last = index + whole.length;
      if (whole === "%%") add("%");
      else if (letter === undefined) throw new FormatError(clauseError(text.slice(last)));
      else if (next >= args.size) throw new FormatError(`index ${next} out of range`);
      else add(formatValue(args.get(next++), letter, precision, meter));
    }
    add(text.slice(last));
    return pieces.join("");
  } catch (error) {
    if (error instanceof FormatError) return new Fault(error.message);
    throw error;
  }
}

/** Counts the work for copying a text before it is done, which limits the length of the result too. */
function countCopy(length: number, meter: Meter): void {
  meter.work(length >> 2);
}

function clauseError(rest: string): string {
  if (rest === "") return "unexpected end of string";
  const [letter] = rest;
  return `could not parse formatting clause: unrecognized formatting clause "${letter}"`;
}

function formatValue(value: Value, letter: string, precision: string | undefined, meter: Meter): string {
  switch (letter) {
    case "s":
      return plainText(value, meter, 0);
    case "d":
      return integer(value, 10, clauses.d.rule);
    case "f":
      return fixedPoint(value, precision === undefined ? defaultPrecision : Number(precision));
    case "e":
      return scientific(value);
    case "b":
      if (typeof value === "boolean") return value ? "1" : "0";
      return integer(value, 2, clauses.b.rule);
    case "o":
      return integer(value, 8, clauses.o.rule);
    case "x":
      return hexadecimal(value, meter);
    default:
      return hexadecimal(value, meter).toUpperCase();
  }
}

function failed(rule: string, value: Value): FormatError {
  return new FormatError(typeError(rule, typeOfValue(value)));
}

function typeError(rule: string, type: CelType): string {
  return `error during formatting: ${rule}, was given ${typeName(type)}`;
}

/** Returns the text of a type without its parameters. */
function typeName(type: CelType): string {
  return typeText(type).replace(/\(.*/s, "");
}

function integer(value: Value, radix: number, rule: string): string {
  const number = value instanceof Uint ? value.value : value;
  if (typeof number !== "bigint") throw failed(rule, value);
  return number.toString(radix);
}

function hexadecimal(value: Value, meter: Meter): string {
  if (typeof value === "string" || value instanceof Uint8Array) countCopy(2 * value.length, meter);
  if (typeof value === "string") return Buffer.from(value, "utf8").toString("hex");
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  return integer(value, 16, clauses.x.rule);
}

function double(value: Value, rule: string): number {
  if (typeof value === "number") return value;
  if (value === "NaN") return Number.NaN;
  if (value === "Infinity" || value === "-Infinity") return Number(value);
  throw failed(rule, value);
}

function special(value: number): string | undefined {
  if (Number.isNaN(value)) return "NaN";
  return Number.isFinite(value) ? undefined : value > 0 ? "∞" : "-∞";
}

/** Formats a double with groups of three digits, as in American English. */
function fixedPoint(value: Value, precision: number): string {
  const number = double(value, clauses.f.rule);
  if (precision > maxPrecision) throw new FormatError(`precision must be at most ${maxPrecision}`);
  const [whole = "", fraction] = decimalText(number, precision).split(".");
  const grouped = inThousands(whole);
  return special(number) ?? (fraction === undefined ? grouped : `${grouped}.${fraction}`);
}

/** Separates the digits of an integer into groups of three. */
function inThousands(integer: string): string {
  const sign = integer.startsWith("-") ? "-" : "";
  const digits = integer.slice(sign.length);
  const groups: string[] = [];
  for (let end = digits.length; end > 0; end -= 3) groups.unshift(digits.slice(Math.max(0, end - 3), end));
  return sign + groups.join(",");
}

/** Doubles from 10^21 on have no fraction. */
function decimalText(number: number, precision: number): string {
  if (!Number.isFinite(number)) return "";
  if (Math.abs(number) < 1e21) return number.toFixed(precision);
  return precision === 0 ? String(BigInt(number)) : `${BigInt(number)}.${"0".repeat(precision)}`;
}

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** Formats a double as `1.052033×10⁰³`; as in the reference, the precision isn't used. */
function scientific(value: Value): string {
  const number = double(value, clauses.e.rule);
  const [mantissa, exponent = "0"] = number.toExponential(defaultPrecision).split("e");
  const digits = exponent.replace(/^[+-]/, "").padStart(2, "0");
  const sign = exponent.startsWith("-") ? "⁻" : "";
  return (
    special(number) ??
    `${mantissa}×10${sign}${Array.from(digits, (digit) => superscripts[Number(digit)]).join("")}`
  );
}

function plainText(value: Value, meter: Meter, nesting: number): string {
  meter.work(stepsPerItem);
  if (nesting > maxNesting) throw new FormatError("the value is nested too deeply");
  if (value === null) return "null";
  if (value instanceof TypeValue) return typeName(value.type);
  if (value instanceof CelList) {
    const items = Array.from({ length: value.size }, (_, at) => itemText(value.get(at), meter, nesting + 1));
    return joined("[", items, "]", meter);
  }
  if (value instanceof CelMap) {
    const entries = value.keys().map((key) => {
      return [itemText(key, meter, nesting + 1), itemText(value.get(key)!, meter, nesting + 1)] as const;
    });
    const sorted = entries.toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
    return joined(
      "{",
      sorted.map(([key, text]) => `${key}:${text}`),
      "}",
      meter,
    );
  }
  if (value instanceof OpaqueValue || value instanceof Optional) throw failed(clauses.s.rule, value);
  if (typeof value === "string" || value instanceof Uint8Array) countCopy(value.length, meter);
  const text = toText(value);
  if (typeof text !== "string") throw failed(clauses.s.rule, value);
  return text;
}

function joined(open: string, items: readonly string[], close: string, meter: Meter): string {
  countCopy(
    items.reduce((sum, item) => sum + item.length + 2, 2),
    meter,
  );
  return `${open}${items.join(", ")}${close}`;
}

/** Formats an item of a list or a map, where strings are quoted. */
function itemText(value: Value, meter: Meter, nesting: number): string {
  if (typeof value === "number")
    return special(value) === undefined ? value.toFixed(defaultPrecision) : `"${toText(value) as string}"`;
  const text = plainText(value, meter, nesting);
  if (typeof value === "string") return JSON.stringify(text);
  if (value instanceof Uint8Array) return `b${JSON.stringify(text)}`;
  if (value instanceof Duration) return `duration(${JSON.stringify(text)})`;
  return value instanceof Timestamp ? `timestamp(${JSON.stringify(text)})` : text;
}

/** Returns the error of a literal text with literal arguments; undefined if they fit together. */
export function formatError(text: string, types: readonly CelType[]): string | undefined {
  let count = 0;
  for (const { 0: whole, 2: letter, index } of text.matchAll(clause)) {
    if (whole === "%%") continue;
    if (letter === undefined) return clauseError(text.slice(index + whole.length));
    const type = types[count];
    if (type === undefined) return `index ${count} out of range`;
    count++;
    const { accepts, rule }: Clause = clauses[letter.toLowerCase() as keyof typeof clauses];
    if (type.is !== "dyn" && !accepts.has(type.is)) return typeError(rule, type);
  }
  if (types.length <= count) return undefined;
  return `too many arguments supplied to string.format (expected ${count}, got ${types.length})`;
}
