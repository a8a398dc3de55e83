import { WireType } from "@bufbuild/protobuf/wire";

/** The most bytes that are kept at hand for the next message. */
const maxKeptBytes = 1024 * 1024;
/** Shorter texts are written faster character by character than by a call into the runtime. */
const shortText = 40;

/**
 * Bytes of a message, written from its end to its start: so the length of what is inside another message is known when
 * it is to be written in front of it, and nothing is moved or joined. What comes last in the message is written first,
 * and of each field the value before its tag.
 */
export class MessageBytes {
  private buffer: Buffer;
  /** Where the bytes begin. */
  private start: number;

  /** @param capacity bytes for which there is room at first. */
  constructor(capacity: number) {
    this.buffer = Buffer.allocUnsafeSlow(capacity);
    this.start = capacity;
  }

  /** Bytes written so far; the difference to an earlier number is the length of what was written since. */
  get length(): number {
    return this.buffer.length - this.start;
  }

  byte(value: number): void {
    if (this.start === 0) this.grow(1);
    this.buffer[--this.start] = value;
  }

  /** A whole number of at most 64 bits; one below 0 takes ten bytes. */
  varint(value: number | bigint): void {
    if (typeof value === "bigint" || value < 0 || value > 0xffffffff) this.varint64(BigInt(value));
    else if (value < 0x80) this.byte(value);
    else this.varint32(value);
  }

  /** What opens a field: its number and how its value is written. */
  tag(number: number, wireType: WireType): void {
    this.varint(number * 8 + wireType);
  }

  /** What opens a field of a length: that of all that was written since this had `length`, which is its value. */
  open(number: number, length: number): void {
    this.varint(this.length - length);
    this.tag(number, WireType.LengthDelimited);
  }

  double(value: number): void {
    const at = this.room(8);
    this.buffer.writeDoubleLE(value, at);
  }

  raw(bytes: Uint8Array): void {
    this.rawPart(bytes, 0, bytes.length);
  }

  /** The bytes from one place up to another. */
  rawPart(bytes: Uint8Array, from: number, to: number): void {
    const at = this.room(to - from);
    if (to - from > shortText) this.buffer.set(bytes.subarray(from, to), at);
    else for (let index = from; index < to; index++) this.buffer[at + index - from] = bytes[index]!;
  }

  /** A text as UTF-8 with its length in front; half a character becomes the replacement character. */
  text(value: string): void {
    if (value.length > shortText || !this.shortAscii(value)) {
      const length = Buffer.byteLength(value);
      const at = this.room(length);
      this.buffer.write(value, at, length, length === value.length ? "latin1" : "utf8");
      this.varint(length);
    } else this.byte(value.length);
  }

  /** The bytes; then this is empty, and free for the next message. */
  take(): Buffer {
    const taken = Buffer.allocUnsafe(this.length);
    this.buffer.copy(taken, 0, this.start);
    this.clear();
    return taken;
  }

  /** Forgets what was written. */
  clear(): void {
    if (this.buffer.length > maxKeptBytes) this.buffer = Buffer.allocUnsafeSlow(maxKeptBytes);
    this.start = this.buffer.length;
  }

  private shortAscii(value: string): boolean {
    const at = this.room(value.length);
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
    let at = this.room(size);
    for (const end = at + size - 1; at < end; at++) {
      this.buffer[at] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.buffer[at] = Number(rest);
  }

  private varint32(value: number): void {
    const size = value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5;
    let at = this.room(size);
    let rest = value;
    for (const end = at + size - 1; at < end; at++) {
      this.buffer[at] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.buffer[at] = rest;
  }

  /** Makes room in front of what is written; gives its place. */
  private room(size: number): number {
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
