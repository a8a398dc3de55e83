import { decodeExactly } from "./exact.ts";
import type { JsonValue } from "./value.ts";

/** Integers from so many digits on may be more than a number holds exactly. */
const longDigits = 16;
/** Deeper than anything that is let in. */
const maxDepth = 1000;

/**
 * Decodes JSON that this server wrote: well formed, and as exact as it was when it came in.
 *
 * @param without bytes that are left out, so that the others are JSON too.
 */
export function decodeTrusted(
  bytes: Buffer,
  without?: { readonly start: number; readonly end: number },
): JsonValue {
  const text =
    without === undefined
      ? bytes.toString("utf8")
      : bytes.toString("utf8", 0, without.start) + bytes.toString("utf8", without.end);
  // What was let in by other ways than one body may have more values than a body may.
  return hasLongNumber(bytes)
    ? decodeExactly(text, maxDepth, Infinity).value
    : (JSON.parse(text) as JsonValue);
}

/** Whether so many digits stand in a row. A row of them has one at every so many bytes, so few bytes are looked at. */
function hasLongNumber(bytes: Buffer): boolean {
  for (let at = longDigits - 1; at < bytes.length; at += longDigits) {
    if (!isDigit(bytes[at])) continue;
    let start = at;
    while (isDigit(bytes[start - 1])) start--;
    let end = at + 1;
    while (isDigit(bytes[end])) end++;
    if (end - start >= longDigits) return true;
  }
  return false;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}
