import { isAscii, isUtf8 } from "node:buffer";
import { faultAt } from "./syntax-fault.ts";

/**
 * The text of UTF-8 bytes.
 * @throws SyntaxFault at the first sequence that isn't UTF-8.
 */
export function decodeUtf8(bytes: Uint8Array): string {
  const buffer = Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // latin1 is the same text for ASCII bytes, and three times as fast to make.
  if (isAscii(buffer)) return buffer.toString("latin1");
  if (isUtf8(buffer)) return buffer.toString("utf8");
  const valid = buffer.toString("utf8", 0, lengthOfValidPrefix(buffer));
  throw faultAt(valid, valid.length, "the text is not valid UTF-8");
}

/** So many bytes are judged as a whole; only the piece that isn't valid is looked at more closely. */
const pieceBytes = 64 * 1024;

/** The number of bytes before the first invalid sequence; a sequence cut short at the end counts as invalid. */
function lengthOfValidPrefix(bytes: Uint8Array): number {
  let start = 0;
  while (start < bytes.length) {
    const end = sequenceStart(bytes, start + pieceBytes);
    if (!isUtf8(bytes.subarray(start, end))) {
      // Where no sequence begins near the end, one may have been cut in two: with its rest it isn't what is wrong.
      return start + validPrefixOfPiece(bytes.subarray(start, end + 4));
    }
    start = end;
  }
  return start;
}

/** Where the sequence begins that a place may be in the middle of; it has at most three bytes before that. */
function sequenceStart(bytes: Uint8Array, place: number): number {
  if (place >= bytes.length) return bytes.length;
  for (let back = 0; back < 3; back++) if ((bytes[place - back]! & 0xc0) !== 0x80) return place - back;
  return place - 3;
}

function validPrefixOfPiece(bytes: Uint8Array): number {
  let low = 0;
  let high = bytes.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (startsValid(bytes.subarray(0, middle))) low = middle;
    else high = middle - 1;
  }
  // `low` may include the first bytes of a sequence that is never completed.
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
