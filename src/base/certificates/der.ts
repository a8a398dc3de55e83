/** Encodes ASN.1 DER (X.690), and decodes the subset that certificates need. */

/** Encodes an element: tag, length, content. */
export function element(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag]), encodeLength(body.length), body]);
}

function encodeLength(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const digits = Buffer.alloc(4);
  digits.writeUInt32BE(length);
  const significant = digits.subarray(digits.findIndex((digit) => digit !== 0));
  return Buffer.concat([Buffer.from([0x80 | significant.length]), significant]);
}

export function sequence(...items: readonly Uint8Array[]): Buffer {
  return element(0x30, ...items);
}

export function set(...items: readonly Uint8Array[]): Buffer {
  return element(0x31, ...items);
}

export function octetString(content: Uint8Array): Buffer {
  return element(0x04, content);
}

/** Encodes a bit string of whole bytes. */
export function bitString(content: Uint8Array): Buffer {
  return element(0x03, Buffer.of(0), content);
}

/** Encodes named bits (numbers from 0) as a bit string, without the trailing zeros that DER forbids. */
export function namedBits(...bits: readonly number[]): Buffer {
  const highest = Math.max(...bits);
  const content = Buffer.alloc((highest >> 3) + 1);
  for (const bit of bits) content[bit >> 3]! |= 0x80 >> (bit & 7);
  return element(0x03, Buffer.of(7 - (highest & 7)), content);
}

/** Encodes a non-negative integer from big-endian bytes. */
export function unsignedInteger(bytes: Uint8Array): Buffer {
  const start = Math.max(
    0,
    bytes.findIndex((byte) => byte !== 0),
  );
  const significant = bytes.subarray(start);
  return significant[0]! >= 0x80 ? element(0x02, Buffer.of(0), significant) : element(0x02, significant);
}

export function boolean(value: boolean): Buffer {
  return element(0x01, Buffer.of(value ? 0xff : 0));
}

export function utf8String(text: string): Buffer {
  return element(0x0c, Buffer.from(text, "utf8"));
}

/** Encodes an object identifier, for example `2.5.4.3`. */
export function objectIdentifier(dotted: string): Buffer {
  const [first, second, ...rest] = dotted.split(".").map(Number);
  return element(0x06, Buffer.from([first! * 40 + second!, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let left = Math.floor(value / 128); left > 0; left = Math.floor(left / 128))
    digits.unshift((left & 0x7f) | 0x80);
  return digits;
}

/** Encodes a time (milliseconds since 1970) with a precision of one second. */
export function time(epochMs: number): Buffer {
  const digits = new Date(epochMs)
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replace(/[-:T]/g, "");
  // UTCTime has two digits for the year; years from 2050 need GeneralizedTime.
  return digits < "2050" ? element(0x17, Buffer.from(digits.slice(2))) : element(0x18, Buffer.from(digits));
}

/** A decoded element: its tag, all of its bytes, and its content. */
export interface Read {
  readonly tag: number;
  readonly whole: Buffer;
  readonly content: Buffer;
}

/**
 * Decodes a sequence of elements.
 *
 * @throws {RangeError} if an element is longer than the input, or a length isn't in its shortest form.
 */
export function readElements(bytes: Buffer): Read[] {
  const elements: Read[] = [];
  for (let at = 0; at < bytes.length;) {
    const tag = bytes.readUInt8(at);
    let length = bytes.readUInt8(at + 1);
    let header = 2;
    if (length >= 0x80) {
      const digits = length & 0x7f;
      length = bytes.readUIntBE(at + 2, digits);
      if (length < 0x80 || bytes[at + 2] === 0)
        throw new RangeError("a length has more digits than it needs");
      header += digits;
    }
    const end = at + header + length;
    if (end > bytes.length) throw new RangeError("an element is longer than its container");
    elements.push({ tag, whole: bytes.subarray(at, end), content: bytes.subarray(at + header, end) });
    at = end;
  }
  return elements;
}
