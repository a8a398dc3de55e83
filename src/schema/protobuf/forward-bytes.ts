/** Capacity of a new buffer, in bytes. */
const initialBytes = 64 * 1024;
/** Largest buffer that is reused for another message, in bytes. */
const maxSpareBytes = 1024 * 1024;
/** Shorter stretches are copied faster byte by byte than by a call into the runtime. */
const shortBytes = 48;

/** The buffer of a released instance. */
const released = Buffer.alloc(0);
/** A buffer that no instance uses: the next one gets it. */
let spare: Buffer | undefined;

/**
 * Bytes of messages, written from their start to their end. The length of a field is written behind its content, into room
 * that was left for it; where the room turns out too small or too large, the content is moved.
 */
export class ForwardBytes {
  private buffer: Buffer;
  /** Bytes written so far. */
  length = 0;

  constructor() {
    this.buffer = spare ?? Buffer.allocUnsafeSlow(initialBytes);
    spare = undefined;
  }

  byte(value: number): void {
    if (this.length === this.buffer.length) this.grow(1);
    this.buffer[this.length++] = value;
  }

  /** A whole number from 0 to 2^31 - 1. */
  varint(value: number): void {
    if (this.length + 5 > this.buffer.length) this.grow(5);
    this.length = putVarint(this.buffer, this.length, value);
  }

  /** The bytes from one place up to another. */
  rawPart(bytes: Uint8Array, from: number, to: number): void {
    const size = to - from;
    if (this.length + size > this.buffer.length) this.grow(size);
    const { buffer, length } = this;
    if (size > shortBytes) buffer.set(bytes.subarray(from, to), length);
    else for (let index = 0; index < size; index++) buffer[length + index] = bytes[from + index]!;
    this.length = length + size;
  }

  /** A text in the given encoding, with its length in front. */
  text(value: string, encoding: "utf8" | "base64"): void {
    const size = Buffer.byteLength(value, encoding);
    if (this.length + size + 5 > this.buffer.length) this.grow(size + 5);
    const start = this.open(varintSize(size));
    this.length += this.buffer.write(value, this.length, encoding);
    this.close(start, varintSize(size));
  }

  /** Leaves room for a length of `size` bytes; gives where the content begins. */
  open(size: number): number {
    if (this.length + size > this.buffer.length) this.grow(size);
    return (this.length += size);
  }

  /**
   * Writes the length of all that was written since {@link open} into the room that it left.
   *
   * @param start what `open` gave.
   * @param size how much room was left.
   * @returns how much room it took: the best guess for the next field of the same type.
   */
  close(start: number, size: number): number {
    const content = this.length - start;
    const taken = varintSize(content);
    if (taken !== size) {
      const moved = taken - size;
      if (this.length + moved > this.buffer.length) this.grow(moved);
      this.buffer.copyWithin(start + moved, start, this.length);
      this.length += moved;
    }
    putVarint(this.buffer, start - size, content);
    return taken;
  }

  /** Forgets what was written behind a length that {@link length} had. */
  cut(length: number): void {
    this.length = length;
  }

  /** Returns a copy of all bytes written so far. */
  copy(): Buffer {
    const copy = Buffer.allocUnsafe(this.length);
    this.buffer.copy(copy, 0, 0, this.length);
    return copy;
  }

  /** Ends the use of the instance; its buffer is reused unless it is very large. */
  release(): void {
    if (this.buffer.length <= maxSpareBytes) spare = this.buffer;
    this.buffer = released;
    this.length = 0;
  }

  private grow(size: number): void {
    const { buffer, length } = this;
    this.buffer = Buffer.allocUnsafeSlow(Math.max(buffer.length * 2, length + size));
    buffer.copy(this.buffer, 0, 0, length);
  }
}

/** How many bytes a whole number from 0 to 2^31 - 1 takes. */
function varintSize(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x200000) return 3;
  return value < 0x10000000 ? 4 : 5;
}

/** Writes a whole number from 0 to 2^31 - 1; gives the place behind it. */
function putVarint(buffer: Buffer, place: number, value: number): number {
  let at = place;
  let rest = value;
  while (rest > 0x7f) {
    buffer[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  buffer[at] = rest;
  return at + 1;
}
