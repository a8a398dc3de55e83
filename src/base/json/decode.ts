import { type JsonDocument, decodeExactly, maxValues } from "./exact.ts";
import { faultAt } from "./syntax-fault.ts";
import { decodeUtf8 } from "./encode.ts";
import type { JsonValue } from "./value.ts";

export type { JsonDocument } from "./exact.ts";

/** Default of {@link DecodeLimits.maxDepth}. */
export const defaultMaxDepth = 200;

/** Limits of a JSON or YAML text. */
export interface DecodeLimits {
  /** Maximum nesting of arrays and objects; a scalar has depth 0. At most 1000. */
  readonly maxDepth: number;
}

const noDuplicates: readonly string[] = [];

/**
 * Decodes a JSON body (spec: conventions 4.8). Of duplicate members the last one counts, and they are listed; integers are never
 * rounded (`bigint` beyond 2^53); `__proto__` is an ordinary name.
 *
 * Fast path: JSON.parse. If the number of colons outside of strings equals the number of members of the value, there are no
 * duplicates. Otherwise, or if a number may have been rounded, the slower exact parser decodes the text again.
 * @throws SyntaxFault for malformed JSON, invalid UTF-8, too deep nesting and numbers out of range.
 */
export function decodeJson(
  bytes: Uint8Array,
  limits: DecodeLimits = { maxDepth: defaultMaxDepth },
): JsonDocument {
  const text = decodeUtf8(bytes);
  const members = countMembers(bytes, limits.maxDepth);
  if (members === tooManyValues) throw faultAt(text, 0, `more than ${maxValues} values`);
  if (members === needsExactParser) return decodeExactly(text, limits.maxDepth);
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return decodeExactly(text, limits.maxDepth); // throws an error with the position
  }
  if (countOwnMembers(value) !== members) return decodeExactly(text, limits.maxDepth);
  return { value, duplicates: noDuplicates };
}

const needsExactParser = -1;
const tooManyValues = -2;
/** Up to this length a string is scanned byte by byte; a native search skips the rest of longer ones. */
const shortString = 48;

/**
 * Counts the colons outside of strings, which is the number of members of all objects. Returns `needsExactParser` if the text is
 * nested too deeply, isn't JSON, or has an escape that may be half of a surrogate pair, and `tooManyValues` if it has at least
 * {@link maxValues} commas.
 */
function countMembers(bytes: Uint8Array, maxDepth: number): number {
  const end = bytes.length;
  let members = 0;
  let depth = 0;
  let commas = 0;
  for (let at = 0; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === 0x22) {
      // Most strings are short and without escapes: they are skipped here, without a function call.
      const jumpAt = at + shortString;
      let inside = bytes[++at];
      while (inside !== 0x22 && inside !== 0x5c && at < jumpAt) inside = bytes[++at];
      if (inside !== 0x22) at = endOfString(bytes, at);
      if (at < 0) return needsExactParser;
    } else if (byte < 0x3a) {
      if (byte === 0x2c && ++commas >= maxValues) return tooManyValues;
      continue; // white space, commas, digits
    } else if (byte === 0x3a) {
      members++;
    } else if ((byte | 0x20) === 0x7b) {
      if (++depth > maxDepth) return needsExactParser; // { and [
    } else if ((byte | 0x20) === 0x7d) {
      depth--; // } and ]
    }
  }
  return members;
}

/**
 * Returns the offset of the closing quote of the string that continues at `start`; -1 if it has none, or escapes a surrogate
 * (`\ud800`). The result of the native search for a quote is reused until it is passed, so the time is linear for any number of
 * escapes.
 */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start;
  let quote = -1;
  for (;;) {
    const jumpAt = at + shortString;
    while (at < jumpAt && bytes[at] !== 0x22 && bytes[at] !== 0x5c) at++;
    if (bytes[at] === 0x22) return at;
    if (bytes[at] !== 0x5c) {
      if (quote < at) quote = bytes.indexOf(0x22, at);
      if (quote < 0) return needsExactParser;
      const escape = bytes.subarray(at, quote).indexOf(0x5c);
      if (escape < 0) return quote;
      at += escape;
    }
    if (bytes[at + 1] === 0x75 && (bytes[at + 2]! | 0x20) === 0x64) return needsExactParser;
    at += 2;
  }
}

/** Counts the members of all objects in a value. Returns NaN if a number may have been rounded or is infinite. */
function countOwnMembers(value: JsonValue): number {
  if (typeof value === "number") return isExact(value) ? 0 : NaN;
  if (typeof value !== "object" || value === null) return 0;
  let members = 0;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item = value[index]!;
      if (typeof item !== "string") members += countOwnMembers(item);
    }
    return members;
  }
  for (const name in value) {
    members++;
    const member = value[name]!;
    if (typeof member !== "string") members += countOwnMembers(member);
  }
  return members;
}

function isExact(value: number): boolean {
  return value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER;
}
