/**
 * CRC-32 (the polynomial of zlib and Ethernet), by which damage to what is stored is found: any change of up to 32 bits in a
 * row. It protects from nobody who wants to forge a value.
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

/** As {@link checksumOf}, for versions of Node without `zlib.crc32` (before 20.15 and 22.2). */
export function tableChecksumOf(bytes: Uint8Array, start = 0): number {
  let value = ~start;
  for (let at = 0; at < bytes.length; at++) value = table[(value ^ bytes[at]!) & 0xff]! ^ (value >>> 8);
  return ~value >>> 0;
}

/**
 * The checksum of bytes.
 *
 * @param start the checksum of what comes before them.
 */
export const checksumOf: (bytes: Uint8Array, start?: number) => number =
  typeof zlib.crc32 === "function" ? (bytes, start = 0) => zlib.crc32(bytes, start) : tableChecksumOf;

/** The checksum of a text's UTF-8 bytes; of short ASCII texts, such as keys, without a call out of JavaScript. */
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

/** A small value with a checksum behind it; the first byte tells it from the values of earlier versions, which are JSON. */
export function seal(content: Uint8Array): Buffer {
  const end = 1 + content.length;
  const bytes = Buffer.alloc(end + checksumBytes);
  bytes[0] = sealedForm;
  bytes.set(content, 1);
  bytes.writeUInt32BE(checksumOf(bytes.subarray(0, end)), end);
  return bytes;
}

/**
 * What {@link seal} was given; a value of an earlier version as it is.
 *
 * @throws {RangeError} it isn't what was written.
 */
export function unseal(bytes: Buffer): Buffer {
  if (bytes[0] !== sealedForm) return bytes;
  const end = bytes.length - checksumBytes;
  if (end < 1 || bytes.readUInt32BE(end) !== checksumOf(bytes.subarray(0, end)))
    throw new RangeError("its checksum differs");
  return bytes.subarray(1, end);
}
