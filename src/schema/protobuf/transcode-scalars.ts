import { JsonScanner } from "../../base/json/json-scanner.ts";
import { decodeTrusted } from "../../base/json/trusted.ts";
import { collectBytesSeparately } from "./encode-message.ts";
import { ForwardBytes } from "./forward-bytes.ts";
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
