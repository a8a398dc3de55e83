/**
 * CRC-32 (the polynomial of zlib and Ethernet) for detecting damaged values: it detects any burst of up to 32 changed bits.
 * It is no protection against forged values.
 */
import * as zlib from "node:zlib";

const table = tableOf(0xedb8_8320);

function tableOf(polynomial: number): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, index) => {
    let value = index;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ polynomial : value >>> 1;
    return value;
  });
}

/** Like {@link checksumOf}, for versions of Node without `zlib.crc32` (before 20.15 and 22.2). */
export function tableChecksumOf(bytes: Uint8Array, start = 0): number {
  let value = ~start;
  for (let at = 0; at < bytes.length; at++) value = table[(value ^ bytes[at]!) & 0xff]! ^ (value >>> 8);
  return ~value >>> 0;
}

/**
 * Returns the checksum of bytes.
 *
 * @param start the checksum of the preceding bytes.
 */
export const checksumOf: (bytes: Uint8Array, start?: number) => number =
  typeof zlib.crc32 === "function" ? (bytes, start = 0) => zlib.crc32(bytes, start) : tableChecksumOf;

/** Returns the checksum of a string's UTF-8 bytes; computed in JavaScript for ASCII strings such as keys. */
export function checksumOfText(text: string, start = 0): number {
  let value = ~start;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) return checksumOf(Buffer.from(text), start);
    value = table[(value ^ code) & 0xff]! ^ (value >>> 8);
  }
  return ~value >>> 0;
}

export const checksumBytes = 4;

const sealedForm = 1;

/** Appends a checksum to a small value. The first byte distinguishes it from values of earlier versions (JSON). */
export function seal(content: Uint8Array): Buffer {
  const end = 1 + content.length;
  const bytes = Buffer.alloc(end + checksumBytes);
  bytes[0] = sealedForm;
  bytes.set(content, 1);
  bytes.writeUInt32BE(checksumOf(bytes.subarray(0, end)), end);
  return bytes;
}

/**
 * Checks and returns the content of a value of {@link seal}; returns a value of an earlier version unchanged.
 *
 * @throws {RangeError} the checksum differs.
 */
export function unseal(bytes: Buffer): Buffer {
  if (bytes[0] !== sealedForm) return bytes;
  const end = bytes.length - checksumBytes;
  if (end < 1 || bytes.readUInt32BE(end) !== checksumOf(bytes.subarray(0, end)))
    throw new RangeError("its checksum differs");
  return bytes.subarray(1, end);
}
