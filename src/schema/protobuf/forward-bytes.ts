/** Capacity of a new buffer, in bytes. */
const initialBytes = 64 * 1024;
/** Largest buffer that is reused for another message, in bytes. */
const maxSpareBytes = 1024 * 1024;
/** Shorter ranges are copied faster byte by byte than by `Buffer.set`. */
const shortBytes = 48;

/** The buffer of a released instance. */
const released = Buffer.alloc(0);
/** An unused buffer for the next instance. */
let spare: Buffer | undefined;

/**
 * A buffer for protobuf messages, written from start to end. Space for the length of a field is reserved before its content and
 * filled afterwards; if the length needs more or fewer bytes, the content is moved.
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

  /** Writes an integer from 0 to 2^31 - 1. */
  varint(value: number): void {
    if (this.length + 5 > this.buffer.length) this.grow(5);
    this.length = putVarint(this.buffer, this.length, value);
  }

  /** Writes the bytes in the range `from` (inclusive) to `to` (exclusive). */
  rawPart(bytes: Uint8Array, from: number, to: number): void {
    const size = to - from;
    if (this.length + size > this.buffer.length) this.grow(size);
    const { buffer, length } = this;
    if (size > shortBytes) buffer.set(bytes.subarray(from, to), length);
    else for (let index = 0; index < size; index++) buffer[length + index] = bytes[from + index]!;
    this.length = length + size;
  }

  /** Writes a string in the given encoding, preceded by its length. */
  text(value: string, encoding: "utf8" | "base64"): void {
    const size = Buffer.byteLength(value, encoding);
    if (this.length + size + 5 > this.buffer.length) this.grow(size + 5);
    const start = this.open(varintSize(size));
    this.length += this.buffer.write(value, this.length, encoding);
    this.close(start, varintSize(size));
  }

  /** Reserves `size` bytes for a length; returns the start of the content. */
  open(size: number): number {
    if (this.length + size > this.buffer.length) this.grow(size);
    return (this.length += size);
  }

  /**
   * Writes the length of the bytes since {@link open} into the reserved space.
   *
   * @param start the result of `open`.
   * @param size the number of reserved bytes.
   * @returns the size of the length in bytes: the best guess for the next field of the same type.
   */
  close(start: number, size: number): number {
    const content = this.length - start;
    const actualSize = varintSize(content);
    if (actualSize !== size) {
      const shift = actualSize - size;
      if (this.length + shift > this.buffer.length) this.grow(shift);
      this.buffer.copyWithin(start + shift, start, this.length);
      this.length += shift;
    }
    putVarint(this.buffer, start - size, content);
    return actualSize;
  }

  /** Removes all bytes after the given length. */
  truncate(length: number): void {
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

/** Returns the size of an integer from 0 to 2^31 - 1 in bytes. */
function varintSize(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x200000) return 3;
  return value < 0x10000000 ? 4 : 5;
}

/** Writes an integer from 0 to 2^31 - 1; returns the position after it. */
function putVarint(buffer: Buffer, start: number, value: number): number {
  let position = start;
  let rest = value;
  while (rest > 0x7f) {
    buffer[position++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  buffer[position] = rest;
  return position + 1;
}
