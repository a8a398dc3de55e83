import { isUtf8 } from "node:buffer";
import { maxValues } from "../json/exact.ts";
import { defaultMaxDepth } from "../json/decode.ts";
import { isOnCalendar } from "../time/timestamps.ts";
import { type JsonObject, type JsonValue, setMember } from "../json/value.ts";

/** The bytes aren't a valid CBOR data item, or have a value that JSON can't represent. */
export class CborFault extends Error {
  override name = "CborFault";

  /** @param offset offset of the fault in bytes. */
  constructor(message: string, offset: number) {
    super(`${message} (at byte ${offset})`);
  }
}

/** Major types of data items (RFC 8949 section 3.1). */
const unsigned = 0;
const negative = 1;
const byteString = 2;
const textString = 3;
const array = 4;
const map = 5;

/** Numbers of tags (RFC 8949 section 3.4). */
const timeTextTag = 0;
const epochTag = 1;
const bignumTags = new Set([2, 3]);
const laterEncodings: ReadonlyMap<number, BufferEncoding> = new Map([
  [21, "base64url"],
  [22, "base64"],
  [23, "hex"],
]);

/** Argument of an item of indefinite length. */
const indefinite = -1;
const breakByte = 0xff;
const maxInt64 = 2n ** 63n - 1n;

/**
 * Decodes one CBOR data item to its JSON form, by the rules of the reference: byte strings are texts, those in the tags 21 to 23 are
 * encoded; times are texts; other tags are ignored. Nesting and the number of values have the limits of JSON bodies.
 *
 * @throws {CborFault} for malformed items, bytes after the item, duplicate keys, keys that aren't strings, invalid UTF-8, NaN and
 *   infinity, integers outside of 64 bits with sign, big numbers and undefined.
 */
export function decodeCbor(bytes: Uint8Array): JsonValue {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return new CborDecoder(buffer).decode();
}

class CborDecoder {
  private at = 0;
  private depth = 0;
  private values = 0;
  /** Encoding of byte strings in the innermost of the tags 21 to 23. */
  private later: BufferEncoding | undefined;

  constructor(private readonly bytes: Buffer) {}

  decode(): JsonValue {
    const value = this.item();
    if (this.at < this.bytes.length) throw this.fault("there are bytes after the data item");
    return value;
  }

  private item(): JsonValue {
    const initial = this.initialByte();
    const major = initial >> 5;
    if (major === 7) return this.simpleOrFloat(initial & 0x1f);
    const argument = this.argument(initial & 0x1f, major);
    switch (major) {
      case unsigned:
        return this.integer(argument);
      case negative:
        return this.integer(typeof argument === "bigint" ? -1n - argument : -1 - argument);
      case byteString:
      case textString:
        return this.text(major, Number(argument));
      case array:
        return this.nested(() => this.array(Number(argument)));
      case map:
        return this.nested(() => this.map(Number(argument)));
      default:
        return this.nested(() => this.tagged(Number(argument)));
    }
  }

  private initialByte(): number {
    if (++this.values > maxValues) throw this.fault(`more than ${maxValues} values`);
    this.need(1);
    return this.bytes[this.at++]!;
  }

  /** Reads the argument of an item: a value, a length or a number of elements. */
  private argument(info: number, major: number): number | bigint {
    if (info < 24) return info;
    const { bytes, at } = this;
    switch (info) {
      case 24:
        this.skip(1);
        return bytes[at]!;
      case 25:
        this.skip(2);
        return bytes.readUInt16BE(at);
      case 26:
        this.skip(4);
        return bytes.readUInt32BE(at);
      case 27: {
        this.skip(8);
        const value = bytes.readBigUInt64BE(at);
        return value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
      }
      case 31:
        if (major >= byteString && major <= map) return indefinite;
    }
    throw this.fault(`the additional information ${info} is not allowed here`);
  }

  private integer(value: number | bigint): number | bigint {
    if (typeof value === "number") return Number.isSafeInteger(value) ? value : BigInt(value);
    if (value > maxInt64 || value < -maxInt64 - 1n) throw this.fault(`${value} is not an integer of 64 bits`);
    return value;
  }

  private simpleOrFloat(info: number): JsonValue {
    const { bytes, at } = this;
    switch (info) {
      case 20:
        return false;
      case 21:
        return true;
      case 22:
        return null;
      case 25:
        this.skip(2);
        return this.finite(halfFloat(bytes.readUInt16BE(at)));
      case 26:
        this.skip(4);
        return this.finite(bytes.readFloatBE(at));
      case 27:
        this.skip(8);
        return this.finite(bytes.readDoubleBE(at));
    }
    throw this.fault(`the simple value ${info} is not false, true or null`);
  }

  private finite(value: number): number {
    if (!Number.isFinite(value)) throw this.fault(`${value} is not a JSON number`);
    return value;
  }

  private text(major: number, length: number): string {
    const start = this.at;
    const content = length === indefinite ? this.chunks(major) : this.string(length);
    if (major === byteString && this.later !== undefined) return content.toString(this.later);
    return textOf(content) ?? this.refuse("the string is not valid UTF-8", start);
  }

  private string(length: number): Buffer {
    const start = this.at;
    this.skip(length);
    return this.bytes.subarray(start, this.at);
  }

  /** Reads the chunks of a string of indefinite length. */
  private chunks(major: number): Buffer {
    const chunks: Buffer[] = [];
    while (!this.ends()) {
      const initial = this.initialByte();
      const length = initial >> 5 === major ? this.argument(initial & 0x1f, major) : indefinite;
      if (length === indefinite) throw this.fault("a string of indefinite length has an invalid chunk");
      const chunk = this.string(Number(length));
      if (major === textString && !isUtf8(chunk)) throw this.fault("the string is not valid UTF-8");
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  private array(length: number): JsonValue[] {
    const items: JsonValue[] = [];
    while (length === indefinite ? !this.ends() : items.length < length) items.push(this.item());
    return items;
  }

  private map(length: number): JsonObject {
    const object: JsonObject = {};
    for (let index = 0; length === indefinite ? !this.ends() : index < length; index++) {
      const start = this.at;
      const name = this.key();
      if (Object.hasOwn(object, name)) {
        return this.refuse(`the key ${JSON.stringify(name.slice(0, 100))} is duplicate`, start);
      }
      setMember(object, name, this.item());
    }
    return object;
  }

  private key(): string {
    const initial = this.initialByte();
    const major = initial >> 5;
    if (major !== byteString && major !== textString) throw this.fault("the key of a map is not a string");
    return this.text(major, Number(this.argument(initial & 0x1f, major)));
  }

  private tagged(number: number): JsonValue {
    if (bignumTags.has(number)) throw this.fault("big numbers are not supported");
    const start = this.at;
    const { later } = this;
    if (number === timeTextTag && this.bytes[start]! >> 5 !== textString) {
      throw this.fault("the content of a time's tag is not a text");
    }
    this.later = laterEncodings.get(number) ?? later;
    const value = this.item();
    this.later = later;
    if (number !== timeTextTag && number !== epochTag) return value;
    return timeOf(number, value) ?? this.refuse("the content of a time's tag is not a time", start);
  }

  /** Reads the content of an array, map or tag, with limited nesting. */
  private nested<T>(read: () => T): T {
    if (++this.depth > defaultMaxDepth) throw this.fault(`nested deeper than ${defaultMaxDepth}`);
    const value = read();
    this.depth--;
    return value;
  }

  /** Whether the item of indefinite length ends here; skips its end. */
  private ends(): boolean {
    this.need(1);
    if (this.bytes[this.at] !== breakByte) return false;
    this.at++;
    return true;
  }

  private skip(length: number): void {
    this.need(length);
    this.at += length;
  }

  private need(length: number): void {
    if (length > this.bytes.length - this.at) throw this.fault("the data ends too early");
  }

  private fault(message: string): CborFault {
    return new CborFault(message, this.at);
  }

  private refuse(message: string, offset: number): never {
    throw new CborFault(message, offset);
  }
}

/** Up to this length a string is searched for bytes beyond ASCII without a native call. */
const shortString = 32;

/** Returns a string from UTF-8; undefined if it is invalid. */
function textOf(bytes: Buffer): string | undefined {
  let at = 0;
  if (bytes.length <= shortString) while (at < bytes.length && bytes[at]! < 0x80) at++;
  if (at === bytes.length) return bytes.toString("latin1");
  return isUtf8(bytes) ? bytes.toString() : undefined;
}

/** Returns a floating-point number of 16 bits (RFC 8949 appendix D). */
function halfFloat(bits: number): number {
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  const sign = bits >= 0x8000 ? -1 : 1;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (fraction + 1024) * 2 ** (exponent - 25);
}

const secondsLength = "2000-01-01T00:00:00".length;
const timeText = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** Returns the content of a time's tag as a timestamp; undefined if it isn't a time. */
function timeOf(number: number, value: JsonValue): string | undefined {
  if (number === timeTextTag) {
    const isTime = typeof value === "string" && timeText.test(value) && isOnCalendar(value);
    return isTime && !Number.isNaN(Date.parse(value)) ? value : undefined;
  }
  if (typeof value !== "number") return undefined;
  const time = new Date(value * 1000);
  const year = Number.isNaN(time.getTime()) ? -1 : time.getUTCFullYear();
  if (year < 0 || year > 9999) return undefined;
  // Without the zeros at the end of the fraction.
  return `${time.toISOString().slice(0, secondsLength)}${String(time.getUTCMilliseconds() / 1000).slice(1)}Z`;
}
