import { JsonScanner } from "../../base/json/json-scanner.ts";
import { decodeTrusted } from "../../base/json/trusted.ts";
import { collectBytesSeparately } from "./encode-message.ts";
import type { FieldPlan } from "./transcode-plan.ts";

const quote = 0x22;
const comma = 0x2c;
const point = 0x2e;
const closeBracket = 0x5d;
/** Maximum number of digits for the fast path. */
const maxDigits = 9;

/**
 * The state of one transcoding, and the scalar values: JSON is read from the scanner, and the message is appended to the output.
 * Methods get the position of a value in the JSON and return the position behind it.
 */
export class ScalarTranscoder {
  protected readonly out = new ForwardBytes();
  protected readonly scan = new JsonScanner();

  /** Writes a string with its length. @param at position of its opening quote. */
  protected text(at: number): number {
    const { bytes } = this.scan;
    const end = this.scan.textEnd(at + 1);
    if (this.scan.escaped) this.out.text(this.scan.text(at, end), "utf8");
    else {
      this.out.varint(end - at - 1);
      this.out.rawPart(bytes, at + 1, end);
    }
    return end + 1;
  }

  protected integer(field: FieldPlan, from: number): number {
    const end = this.digitsEnd(from);
    if (end === from || end - from > maxDigits || !isEnd(this.scan.bytes[end])) return this.tree(field, from);
    this.out.varint(field.number * 8);
    this.out.varint(this.number(from, end));
    return end;
  }

  private digitsEnd(from: number): number {
    const { bytes } = this.scan;
    let at = from;
    while (bytes[at]! >= 0x30 && bytes[at]! <= 0x39) at++;
    return at;
  }

  /** Parses digits. */
  private number(from: number, to: number): number {
    const { bytes } = this.scan;
    let value = 0;
    for (let at = from; at < to; at++) value = value * 10 + bytes[at]! - 0x30;
    return value;
  }

  /** Writes a message with a string (1). */
  protected quantity(field: FieldPlan, at: number): number {
    if (this.scan.bytes[at] !== quote) return this.tree(field, at);
    this.openField(field.number);
    const content = this.out.open(1);
    this.openField(1);
    const end = this.text(at);
    this.out.close(content, 1);
    return end;
  }

  /** Writes a message with the type (1: 0 for a number, 1 for a string), the number (2) and the string (3). */
  protected intOrString(field: FieldPlan, from: number): number {
    const isString = this.scan.bytes[from] === quote;
    const digits = isString ? from : this.digitsEnd(from);
    if (!isString && (digits === from || digits - from > maxDigits)) return this.tree(field, from);
    this.openField(field.number);
    const content = this.out.open(1);
    this.out.byte(1 * 8);
    this.out.byte(isString ? 1 : 0);
    this.out.byte(2 * 8);
    this.out.varint(this.number(from, digits));
    this.openField(3);
    const end = isString ? this.text(from) : digits;
    if (!isString) this.out.byte(0);
    this.out.close(content, 1);
    return end;
  }

  /** Writes a message with seconds (1) and nanoseconds (2). */
  protected time(field: FieldPlan, at: number): number {
    const { bytes } = this.scan;
    const first = at + 1;
    // Fast path for 2006-01-02T15:04:05Z and 2006-01-02T15:04:05.000000Z.
    const whole = bytes[first + 20] === quote;
    if (!whole && (bytes[first + 19] !== point || bytes[first + 27] !== quote)) return this.tree(field, at);
    const year = this.number(first, first + 4);
    const seconds =
      Date.UTC(
        year,
        this.number(first + 5, first + 7) - 1,
        this.number(first + 8, first + 10),
        this.number(first + 11, first + 13),
        this.number(first + 14, first + 16),
        this.number(first + 17, first + 19),
      ) / 1000;
    if (year < 1970 || seconds > 0x7fffffff) return this.tree(field, at);
    this.openField(field.number);
    const content = this.out.open(1);
    this.out.byte(1 * 8);
    this.out.varint(seconds);
    this.out.byte(2 * 8);
    this.out.varint(whole ? 0 : this.number(first + 20, first + 26) * 1000);
    this.out.close(content, 1);
    return first + (whole ? 21 : 28);
  }

  protected base64(field: FieldPlan, at: number): number {
    const end = this.scan.textEnd(at + 1);
    if (this.scan.escaped || this.scan.bytes[at] !== quote) return this.tree(field, at);
    this.openField(field.number);
    this.out.text(this.scan.bytes.toString("latin1", at + 1, end), "base64");
    return end + 1;
  }

  /** Writes a message with the JSON text (1). */
  protected json(field: FieldPlan, at: number): number {
    const end = this.scan.valueEnd(at);
    this.openField(field.number);
    const content = this.out.open(field.lengthBytes);
    this.openField(1);
    this.out.varint(end - at);
    this.out.rawPart(this.scan.bytes, at, end);
    field.lengthBytes = this.out.close(content, field.lengthBytes);
    return end;
  }

  /** Writes any value by decoding and encoding it. */
  protected tree(field: FieldPlan, at: number): number {
    const end = this.scan.valueEnd(at);
    const value = decodeTrusted(this.scan.bytes.subarray(at, end));
    const bytes = collectBytesSeparately((message) => field.write(message, value));
    this.out.rawPart(bytes, 0, bytes.length);
    return end;
  }
  /** Writes the tag of a length-delimited field. */
  protected openField(number: number): void {
    this.out.varint(number * 8 + 2);
  }
}

/** Returns true for a byte that can follow a value. */
function isEnd(byte: number | undefined): boolean {
  return byte === comma || byte === 0x7d || byte === closeBracket;
}

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
class ForwardBytes {
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
