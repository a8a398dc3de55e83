import { WireType } from "@bufbuild/protobuf/wire";

/** Maximum size of the buffer that is reused for the next message, in bytes. */
const maxReusedBytes = 1024 * 1024;
/** Shorter strings are written faster character by character than by `Buffer.write`. */
const shortText = 40;

/**
 * A buffer for a protobuf message, written from end to start: the length of a nested message is known when it must be written
 * before it, so nothing is moved. The last field is written first, and the value of a field before its tag.
 */
export class MessageBytes {
  private buffer: Buffer;
  /** Position of the first written byte. */
  private start: number;

  /** @param capacity initial size of the buffer, in bytes. */
  constructor(capacity: number) {
    this.buffer = Buffer.allocUnsafeSlow(capacity);
    this.start = capacity;
  }

  /** Number of written bytes. */
  get length(): number {
    return this.buffer.length - this.start;
  }

  byte(value: number): void {
    if (this.start === 0) this.grow(1);
    this.buffer[--this.start] = value;
  }

  /** Writes an integer of at most 64 bits; a negative one takes ten bytes. */
  varint(value: number | bigint): void {
    if (typeof value === "bigint" || value < 0 || value > 0xffffffff) this.varint64(BigInt(value));
    else if (value < 0x80) this.byte(value);
    else this.varint32(value);
  }

  /** Writes the tag of a field: its number and wire type. */
  tag(number: number, wireType: WireType): void {
    this.varint(number * 8 + wireType);
  }

  /** Writes tag and length of a length-delimited field. Its value are the bytes that were written since the buffer had `length`. */
  open(number: number, length: number): void {
    this.varint(this.length - length);
    this.tag(number, WireType.LengthDelimited);
  }

  double(value: number): void {
    const at = this.reserve(8);
    this.buffer.writeDoubleLE(value, at);
  }

  raw(bytes: Uint8Array): void {
    this.rawPart(bytes, 0, bytes.length);
  }

  /** Writes the bytes in the range `from` (inclusive) to `to` (exclusive). */
  rawPart(bytes: Uint8Array, from: number, to: number): void {
    const at = this.reserve(to - from);
    if (to - from > shortText) this.buffer.set(bytes.subarray(from, to), at);
    else for (let index = from; index < to; index++) this.buffer[at + index - from] = bytes[index]!;
  }

  /** Writes a string in UTF-8, preceded by its length; a lone surrogate becomes U+FFFD. */
  text(value: string): void {
    if (value.length > shortText || !this.shortAscii(value)) {
      const length = Buffer.byteLength(value);
      const at = this.reserve(length);
      this.buffer.write(value, at, length, length === value.length ? "latin1" : "utf8");
      this.varint(length);
    } else this.byte(value.length);
  }

  /** Returns a copy of the bytes and clears the buffer. */
  take(): Buffer {
    const bytes = Buffer.allocUnsafe(this.length);
    this.buffer.copy(bytes, 0, this.start);
    this.clear();
    return bytes;
  }

  /** Clears the buffer. */
  clear(): void {
    if (this.buffer.length > maxReusedBytes) this.buffer = Buffer.allocUnsafeSlow(maxReusedBytes);
    this.start = this.buffer.length;
  }

  private shortAscii(value: string): boolean {
    const at = this.reserve(value.length);
    for (let index = 0; index < value.length; index++) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) {
        this.start = at + value.length;
        return false;
      }
      this.buffer[at + index] = code;
    }
    return true;
  }

  private varint64(value: bigint): void {
    let rest = BigInt.asUintN(64, value);
    let size = 1;
    for (let above = rest >> 7n; above > 0n; above >>= 7n) size++;
    let at = this.reserve(size);
    for (const end = at + size - 1; at < end; at++) {
      this.buffer[at] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.buffer[at] = Number(rest);
  }

  private varint32(value: number): void {
    const size = value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5;
    let at = this.reserve(size);
    let rest = value;
    for (const end = at + size - 1; at < end; at++) {
      this.buffer[at] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.buffer[at] = rest;
  }

  /** Reserves space before the written bytes; returns its position. */
  private reserve(size: number): number {
    if (size > this.start) this.grow(size);
    return (this.start -= size);
  }

  private grow(size: number): void {
    const { buffer, length } = this;
    this.buffer = Buffer.allocUnsafeSlow(Math.max(buffer.length * 2, length + size));
    const start = this.buffer.length - length;
    buffer.copy(this.buffer, start, this.start);
    this.start = start;
  }
}
