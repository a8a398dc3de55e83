import type { JsonValue } from "./value.ts";
import { isAscii, isUtf8 } from "node:buffer";
import { faultAt } from "./syntax-fault.ts";

/** Encodes a value as compact JSON. Members keep their order; `bigint` is written as an integer. */
export function encodeJson(value: JsonValue): string {
  if (typeof value === "string") return encodeString(value);
  try {
    return JSON.stringify(value);
  } catch (error) {
    // JSON.stringify throws for bigint. Such values are rare, so trying it first is faster on average.
    if (error instanceof TypeError) return encodeExact(value);
    throw error;
  }
}

/** Characters that JSON.stringify may escape: quotes, backslashes, control characters, surrogates. */
const escaped = /["\\\ud800-\udfff]|[^ -\uffff]/;

/** Encodes a string as JSON. Most strings need no escapes, and checking that is faster than JSON.stringify. */
export function encodeString(text: string): string {
  return escaped.test(text) ? JSON.stringify(text) : `"${text}"`;
}

/** Like {@link encodeJson}, with one member per line and an indentation of two spaces. */
export function encodePretty(value: JsonValue, margin = ""): string {
  if (typeof value !== "object" || value === null) return encodeJson(value);
  const inner = `${margin}  `;
  const lines = Array.isArray(value)
    ? value.map((item) => inner + encodePretty(item, inner))
    : Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .map(([name, member]) => `${inner}${JSON.stringify(name)}: ${encodePretty(member, inner)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return lines.length === 0 ? open + close : `${open}\n${lines.join(",\n")}\n${margin}${close}`;
}

function encodeExact(value: JsonValue): string {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(encodeExact).join(",")}]`;
  const members: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    // In code an absent optional member may be undefined.
    if (member !== undefined) members.push(`${JSON.stringify(name)}:${encodeExact(member)}`);
  }
  return `{${members.join(",")}}`;
}

/**
 * Decodes UTF-8.
 * @throws SyntaxFault at the first invalid sequence.
 */
export function decodeUtf8(bytes: Uint8Array): string {
  const buffer = Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // For ASCII the latin1 decoder has the same result and is three times as fast.
  if (isAscii(buffer)) return buffer.toString("latin1");
  if (isUtf8(buffer)) return buffer.toString("utf8");
  const valid = buffer.toString("utf8", 0, lengthOfValidPrefix(buffer));
  throw faultAt(valid, valid.length, "the text is not valid UTF-8");
}

/** Size of the pieces that are validated; only an invalid piece is searched for the position. */
const pieceBytes = 64 * 1024;

/** Returns the number of bytes before the first invalid sequence. An incomplete sequence at the end is invalid. */
function lengthOfValidPrefix(bytes: Uint8Array): number {
  let start = 0;
  while (start < bytes.length) {
    const end = sequenceStart(bytes, start + pieceBytes);
    if (!isUtf8(bytes.subarray(start, end))) {
      // The end of the piece may cut a sequence in two: include the rest of it.
      return start + validPrefixOfPiece(bytes.subarray(start, end + 4));
    }
    start = end;
  }
  return start;
}

/** Returns the start of the sequence that contains `position`, at most three bytes before it. */
function sequenceStart(bytes: Uint8Array, position: number): number {
  if (position >= bytes.length) return bytes.length;
  for (let back = 0; back < 3; back++) if ((bytes[position - back]! & 0xc0) !== 0x80) return position - back;
  return position - 3;
}

function validPrefixOfPiece(bytes: Uint8Array): number {
  let low = 0;
  let high = bytes.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (startsValid(bytes.subarray(0, middle))) low = middle;
    else high = middle - 1;
  }
  // `low` may include the first bytes of an incomplete sequence.
  while (low > 0 && !isUtf8(bytes.subarray(0, low))) low--;
  return low;
}

function startsValid(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
