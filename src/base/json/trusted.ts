import { decodeExactly } from "./exact.ts";
import type { JsonValue } from "./value.ts";

/** A double may not represent integers with this number of digits or more exactly. */
const longDigits = 16;
/** Greater than the nesting limit of any input. */
const maxDepth = 1000;

/**
 * Decodes JSON that this server wrote. It is valid; integers are exact.
 *
 * @param without a range of bytes to skip; the rest must be valid JSON.
 */
export function decodeTrusted(
  bytes: Buffer,
  without?: { readonly start: number; readonly end: number },
): JsonValue {
  const text =
    without === undefined
      ? bytes.toString("utf8")
      : bytes.toString("utf8", 0, without.start) + bytes.toString("utf8", without.end);
  // An object that was built by several requests may have more values than one body may.
  return hasLongNumber(bytes)
    ? decodeExactly(text, maxDepth, Infinity).value
    : (JSON.parse(text) as JsonValue);
}

/** Whether there are {@link longDigits} digits in a row. It checks only every {@link longDigits}th byte, as each such run has one there. */
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
