import { decodeExactly } from "./exact.ts";
import type { JsonValue } from "./value.ts";

/** Number of digits from which an integer may not be exact as a double. */
const longDigits = 16;
/** Larger than the depth of any accepted body. */
const maxDepth = 1000;

/**
 * Decodes JSON that this server encoded: well formed, and without loss.
 *
 * @param without range of bytes to skip; the others must be JSON.
 */
export function decodeTrusted(
  bytes: Buffer,
  without?: { readonly start: number; readonly end: number },
): JsonValue {
  const text =
    without === undefined
      ? bytes.toString("utf8")
      : bytes.toString("utf8", 0, without.start) + bytes.toString("utf8", without.end);
  // An object that was created by several requests may have more values than the limit for a body.
  return hasLongNumber(bytes)
    ? decodeExactly(text, maxDepth, Infinity).value
    : (JSON.parse(text) as JsonValue);
}

/** Whether the bytes contain a run of that many digits. Checks only every n-th byte, which each such run contains. */
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
