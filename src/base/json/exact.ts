import { DuplicateMembers, type ValuePosition } from "./duplicate-members.ts";
import { type SyntaxFault, faultAt } from "./syntax-fault.ts";
import { type JsonObject, type JsonValue, setMember } from "./value.ts";

/** A decoded JSON or YAML document. */
export interface JsonDocument {
  readonly value: JsonValue;
  /**
   * Paths of the duplicate members (`data.a`, `rules[0].verbs`), each once, in order; at most `maxDuplicates`. The value has the
   * last one.
   */
  readonly duplicates: readonly string[];
}

/** Maximum number of values in a text. It bounds the cost of later validation and copies. */
export const maxValues = 200_000;

/** An array or object that isn't closed yet. */
interface Open {
  readonly array: JsonValue[] | undefined;
  readonly object: JsonObject | undefined;
  /** Name of the member that is being read. */
  name: string;
  /** Its position, if it has been needed. */
  position?: ValuePosition;
}

const numberToken = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const loneSurrogate = /\p{Surrogate}/gu;
/** Number of digits of the largest double. */
const maxIntegerDigits = 309;

/**
 * Parses JSON without loss: duplicates are listed, integers beyond 2^53 are `bigint`, unpaired surrogates become U+FFFD, nesting is
 * limited. Several times slower than JSON.parse. Runs in linear time for every input, and without recursion.
 * @throws SyntaxFault
 */
export function decodeExactly(text: string, maxDepth: number, valueLimit = maxValues): JsonDocument {
  return new ExactParser(text, maxDepth, valueLimit).parse();
}

class ExactParser {
  private at = 0;
  private values = 0;
  private readonly open: Open[] = [];
  private readonly duplicates = new DuplicateMembers();

  constructor(
    private readonly text: string,
    private readonly maxDepth: number,
    private readonly valueLimit: number,
  ) {}

  parse(): JsonDocument {
    for (;;) {
      const value = this.readValue();
      if (value === undefined) continue; // a container was opened, its first element comes next
      const whole = this.addValue(value);
      if (whole !== undefined) return { value: whole, duplicates: this.duplicates.list() };
    }
  }

  /** Reads a scalar or an empty container; opens any other container and returns undefined. */
  private readValue(): JsonValue | undefined {
    this.skipSpace();
    if (++this.values > this.valueLimit) {
      throw faultAt(this.text, this.at, `more than ${this.valueLimit} values`);
    }
    const text = this.text;
    switch (text.charCodeAt(this.at)) {
      case 0x22: // "
        return this.readString();
      case 0x7b: // {
        return this.openObject();
      case 0x5b: // [
        return this.openArray();
      case 0x74: // t
        return this.readWord("true", true);
      case 0x66: // f
        return this.readWord("false", false);
      case 0x6e: // n
        return this.readWord("null", null);
      default:
        return this.readNumber();
    }
  }

  /** Adds a complete value to its container, and closes the containers that end after it. Returns the root value at the end. */
  private addValue(complete: JsonValue): JsonValue | undefined {
    let value = complete;
    for (;;) {
      const open = this.open.at(-1);
      this.skipSpace();
      const code = this.text.charCodeAt(this.at);
      if (open === undefined) {
        if (this.at < this.text.length) throw this.unexpected("the end of the text");
        return value;
      }
      if (open.array !== undefined) open.array.push(value);
      else setMember(open.object!, open.name, value);
      const close = open.array !== undefined ? 0x5d : 0x7d;
      if (code === 0x2c) {
        this.at++;
        if (open.object !== undefined) this.readName(open);
        return undefined;
      }
      if (code !== close) throw this.unexpected(open.array !== undefined ? '"," or "]"' : '"," or "}"');
      this.at++;
      this.open.pop();
      value = open.array ?? open.object!;
    }
  }

  private openArray(): JsonValue | undefined {
    const array: JsonValue[] = [];
    this.enter({ array, object: undefined, name: "" });
    if (this.text.charCodeAt(this.at) !== 0x5d) return undefined;
    this.at++;
    this.open.pop();
    return array;
  }

  private openObject(): JsonValue | undefined {
    const object: JsonObject = {};
    const open = { array: undefined, object, name: "" };
    this.enter(open);
    if (this.text.charCodeAt(this.at) === 0x7d) {
      this.at++;
      this.open.pop();
      return object;
    }
    this.readName(open);
    return undefined;
  }

  private enter(open: Open): void {
    if (this.open.length >= this.maxDepth) throw depthFault(this.text, this.at, this.maxDepth);
    this.at++;
    this.open.push(open);
    this.skipSpace();
  }

  private readName(open: Open): void {
    this.skipSpace();
    if (this.text.charCodeAt(this.at) !== 0x22) throw this.unexpected("a member's name in double quotes");
    open.name = this.readString();
    if (Object.hasOwn(open.object!, open.name)) {
      this.duplicates.add(this.positionOf(this.open.length - 1), open.name);
    }
    this.skipSpace();
    if (this.text.charCodeAt(this.at) !== 0x3a) throw this.unexpected('":"');
    this.at++;
  }

  /** Returns the position of an open container. While it is open, the name and the index in its parent don't change. */
  private positionOf(index: number): ValuePosition {
    const open = this.open[index]!;
    const parent = this.open[index - 1];
    return (open.position ??=
      parent === undefined
        ? { parent: undefined, step: "" }
        : { parent: this.positionOf(index - 1), step: parent.array?.length ?? parent.name });
  }

  private readString(): string {
    const text = this.text;
    const start = this.at;
    const end = text.length;
    let escaped = false;
    let at = start + 1;
    // The loop checks `end` instead of a NaN code at the end of the text: with that, optimized code once ran on for minutes.
    for (; at < end; at++) {
      const code = text.charCodeAt(at);
      if (code === 0x22) break;
      if (code === 0x5c) {
        escaped = true;
        at += this.escapeLength(at) - 1;
      } else if (code < 0x20) throw faultAt(text, at, "a control character must be escaped in a string");
    }
    if (at >= end) throw faultAt(text, start, "this string is never closed");
    this.at = at + 1;
    if (!escaped) return text.slice(start + 1, at);
    const value = JSON.parse(text.slice(start, at + 1)) as string;
    return value.replace(loneSurrogate, "\ufffd");
  }

  private escapeLength(at: number): number {
    const kind = this.text.charAt(at + 1);
    if (kind === "u" && /^[0-9a-fA-F]{4}$/.test(this.text.slice(at + 2, at + 6))) return 6;
    if (kind !== "" && '"\\/bfnrt'.includes(kind)) return 2;
    throw faultAt(this.text, at, "unknown escape sequence in a string");
  }

  private readWord<T extends JsonValue>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) throw this.unexpected("a value");
    this.at += word.length;
    return value;
  }

  private readNumber(): number | bigint {
    numberToken.lastIndex = this.at;
    const match = numberToken.exec(this.text);
    if (match === null) throw this.unexpected("a value");
    const [token, fraction, exponent] = match;
    const value = Number(token);
    const start = this.at;
    this.at += token.length;
    if (fraction !== undefined || exponent !== undefined) {
      if (!Number.isFinite(value)) throw faultAt(this.text, start, "the number is out of range");
      return value;
    }
    if (Number.isSafeInteger(value)) return value;
    if (token.length > maxIntegerDigits) throw faultAt(this.text, start, "the number is out of range");
    return BigInt(token);
  }

  private skipSpace(): void {
    const text = this.text;
    for (; this.at < text.length; this.at++) {
      const code = text.charCodeAt(this.at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
    }
  }

  private unexpected(expected: string): SyntaxFault {
    const code = this.text.codePointAt(this.at);
    const actual = code === undefined ? "the end of the text" : JSON.stringify(String.fromCodePoint(code));
    return faultAt(this.text, this.at, `${expected} expected, found ${actual}`);
  }
}

function depthFault(text: string, offset: number, maxDepth: number): SyntaxFault {
  return faultAt(text, offset, `arrays and objects are nested deeper than ${maxDepth}`);
}
