import type { JsonValue } from "../json/value.ts";

/**
 * The texts of a value that are base64 of bytes: all (`bytes`), or those of members by name or of all items and members (`each`).
 * They are written as byte strings with the tag 22.
 */
export type BytesShape =
  "bytes" | { readonly members: ReadonlyMap<string, BytesShape>; readonly each?: BytesShape | undefined };

/** Tag 55799, which marks CBOR: each document begins with it. */
export const selfDescribed = Buffer.of(0xd9, 0xd9, 0xf7);

/** Tag 22: bytes that are base64 in JSON. */
const base64Tag = 0xd6;

/** Encodes a JSON value as a document, by the rules of the reference: texts are byte strings. */
export function encodeCbor(value: JsonValue, shape?: BytesShape): Buffer {
  const writer = new CborWriter();
  writer.document(value, shape);
  return writer.bytes();
}

const initialBytes = 4096;
/** Up to this number of characters a text is copied in the hope that all are ASCII; its length is one byte then. */
const shortText = 23;

/** Writes CBOR data items. */
export class CborWriter {
  private buffer = Buffer.allocUnsafe(initialBytes);
  private at = 0;

  /** Returns the bytes that were written. */
  bytes(): Buffer {
    return Buffer.from(this.buffer.subarray(0, this.at));
  }

  /** Writes a value with the tag of a document. */
  document(value: JsonValue, shape?: BytesShape): void {
    this.raw(selfDescribed);
    this.value(value, shape);
  }

  value(value: JsonValue | undefined, shape?: BytesShape): void {
    switch (typeof value) {
      case "string":
        return shape === "bytes" ? this.base64(value) : this.text(value);
      case "number":
        return this.number(value);
      case "boolean":
        return this.byte(value ? 0xf5 : 0xf4);
      case "bigint":
        return this.bigint(value);
    }
    if (value === null || value === undefined) return this.byte(0xf6);
    const inner = shape === "bytes" ? undefined : shape;
    if (Array.isArray(value)) {
      this.head(4, value.length);
      for (const item of value) this.value(item, inner?.each);
      return;
    }
    let size = 0;
    for (const name in value) if (value[name] !== undefined) size++;
    this.head(5, size);
    for (const name in value) {
      const member = value[name];
      if (member === undefined) continue;
      this.text(name);
      this.value(member, inner && (inner.members.get(name) ?? inner.each));
    }
  }

  /** Writes a text as a byte string. */
  text(text: string): void {
    const { length } = text;
    if (length <= shortText && this.asciiText(text, length)) return;
    const size = Buffer.byteLength(text);
    this.head(2, size);
    this.reserve(size);
    this.at += this.buffer.write(text, this.at, size);
  }

  /** Writes the initial byte and argument of an item. */
  head(major: number, argument: number): void {
    this.reserve(9);
    const { buffer } = this;
    const type = major << 5;
    if (argument < 24) buffer[this.at++] = type | argument;
    else if (argument < 0x100) {
      buffer[this.at++] = type | 24;
      buffer[this.at++] = argument;
    } else if (argument < 0x10000) {
      buffer[this.at++] = type | 25;
      this.at = buffer.writeUInt16BE(argument, this.at);
    } else if (argument < 0x1_0000_0000) {
      buffer[this.at++] = type | 26;
      this.at = buffer.writeUInt32BE(argument, this.at);
    } else {
      buffer[this.at++] = type | 27;
      this.at = buffer.writeBigUInt64BE(BigInt(argument), this.at);
    }
  }

  byte(byte: number): void {
    this.reserve(1);
    this.buffer[this.at++] = byte;
  }

  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.buffer.set(bytes, this.at);
    this.at += bytes.length;
  }

  /** Writes a short text if it is ASCII; otherwise writes nothing and returns false. */
  private asciiText(text: string, length: number): boolean {
    this.reserve(length + 1);
    const { buffer } = this;
    let to = this.at;
    buffer[to++] = 0x40 | length;
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code >= 0x80) return false;
      buffer[to++] = code;
    }
    this.at = to;
    return true;
  }

  private base64(text: string): void {
    const bytes = Buffer.from(text, "base64");
    this.byte(base64Tag);
    this.head(2, bytes.length);
    this.raw(bytes);
  }

  private number(value: number): void {
    if (!Number.isSafeInteger(value)) this.float(value);
    else if (value >= 0) this.head(0, value);
    else this.head(1, -1 - value);
  }

  private bigint(value: bigint): void {
    if (BigInt.asIntN(64, value) !== value) return this.float(Number(value));
    this.reserve(9);
    this.buffer[this.at++] = value < 0n ? 0x3b : 0x1b;
    this.at = this.buffer.writeBigUInt64BE(value < 0n ? -1n - value : value, this.at);
  }

  /** Writes a floating-point number in the shortest of the forms with 16, 32 and 64 bits that keeps its value. */
  private float(value: number): void {
    this.reserve(9);
    const { buffer } = this;
    const half = Math.fround(value) === value ? halfOf(value) : undefined;
    if (half !== undefined) {
      buffer[this.at++] = 0xf9;
      this.at = buffer.writeUInt16BE(half, this.at);
    } else if (Math.fround(value) === value) {
      buffer[this.at++] = 0xfa;
      this.at = buffer.writeFloatBE(value, this.at);
    } else {
      buffer[this.at++] = 0xfb;
      this.at = buffer.writeDoubleBE(value, this.at);
    }
  }

  private reserve(length: number): void {
    const needed = this.at + length;
    if (needed <= this.buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.buffer.length));
    this.buffer.copy(larger, 0, 0, this.at);
    this.buffer = larger;
  }
}

/** Returns the form with 16 bits of a number; undefined if it would change the value. */
function halfOf(value: number): number | undefined {
  const sign = value < 0 ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size < 2 ** -14) {
    const fraction = size * 2 ** 24;
    return Number.isInteger(fraction) ? sign | fraction : undefined;
  }
  const exponent = Math.floor(Math.log2(size));
  const fraction = size * 2 ** (10 - exponent) - 1024;
  if (exponent > 15 || !Number.isInteger(fraction) || fraction < 0 || fraction > 1023) return undefined;
  return sign | ((exponent + 15) << 10) | fraction;
}
