import type { JsonValue } from "../json/value.ts";
import { resolvePlain, ScalarFault } from "./yaml-scalars.ts";

/** The text needs the complete parser: it has a construct that the simple one doesn't read, or is malformed. */
export class NotSimple extends Error {
  override name = "NotSimple";
}

/** A quoted or plain name of a member at the start of a line, with its colon and the spaces behind. */
const blockKey = /^(?:([A-Za-z0-9_$./][A-Za-z0-9_$./-]*)|"([^"\\]*)"|'([^']*)'):(?: +|$)/;
/** Longest name: YAML allows 1,024 characters. */
const maxKeyLength = 512;

/** A name at the start of a line, and the length of the text that it takes. */
export interface SimpleKey {
  readonly name: string;
  readonly length: number;
}

/** Returns the name of a member with which a text begins; undefined if it begins with none. */
export function keyAt(text: string): SimpleKey | undefined {
  const match = blockKey.exec(text);
  if (match === null) return undefined;
  const [{ length }, plain] = match;
  if (length > maxKeyLength) throw new NotSimple();
  return { name: plain === undefined ? quotedName(match[2] ?? match[3]!) : nameOf(plain), length };
}

function quotedName(name: string): string {
  if (name === "__proto__") throw new NotSimple();
  return name;
}

/** Names such as `8080` and `true` are values that become strings. */
function nameOf(plain: string): string {
  const value = plainValue(plain);
  if (value === null || plain === "__proto__") throw new NotSimple();
  return String(value);
}

/** Resolves an unquoted scalar. @throws {NotSimple} if it has no JSON value. */
export function plainValue(source: string): JsonValue {
  try {
    return resolvePlain(source);
  } catch (error) {
    if (error instanceof ScalarFault) throw new NotSimple();
    throw error;
  }
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["\\", "\\"],
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
]);

/** Replaces the escapes of a text in double quotes. @throws {NotSimple} for an escape that is rare. */
export function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replaceAll(/\\(.?)/gs, (_, name: string) => {
    const character = escapes.get(name);
    if (character === undefined) throw new NotSimple();
    return character;
  });
}

/** A scalar or collection in one line, and the offset of its end. */
export interface FlowValue {
  readonly value: JsonValue;
  readonly end: number;
}

/** Deepest nesting in one line. */
export const maxFlowDepth = 32;

/** Reads a flow collection that ends in its line. */
export class FlowReader {
  private at = 0;
  private readonly plainScalar = /[A-Za-z0-9_./$-][A-Za-z0-9_./$@*+-]*(?::[A-Za-z0-9_./$@*+-]+)*/y;
  private readonly inDoubleQuotes = /"((?:[^"\\]|\\.)*)"/y;
  private readonly inSingleQuotes = /'((?:[^']|'')*)'(?!')/y;

  constructor(private readonly text: string) {}

  /** Reads a collection at an offset. @throws {NotSimple} */
  read(offset: number): FlowValue {
    this.at = offset;
    const value = this.value(0);
    return { value, end: this.at };
  }

  private value(depth: number): JsonValue {
    if (depth > maxFlowDepth) throw new NotSimple();
    const first = this.text[this.at];
    if (first === "{") return this.object(depth);
    if (first === "[") return this.list(depth);
    if (first === '"' || first === "'") return this.quoted(first);
    return plainValue(this.plain());
  }

  private object(depth: number): JsonValue {
    const object: { [name: string]: JsonValue } = {};
    if (this.begins("}")) return object;
    do {
      this.skipSpaces();
      const first = this.text[this.at];
      const isQuoted = first === '"' || first === "'";
      const name = isQuoted ? quotedName(this.quoted(first)) : nameOf(this.plain());
      if (this.text[this.at] !== ":" || Object.hasOwn(object, name)) throw new NotSimple();
      this.at++;
      if (this.text[this.at] !== " " && !isQuoted) throw new NotSimple();
      this.skipSpaces();
      object[name] = this.value(depth + 1);
    } while (!this.ends("}"));
    return object;
  }

  private list(depth: number): JsonValue {
    const list: JsonValue[] = [];
    if (this.begins("]")) return list;
    do {
      this.skipSpaces();
      list.push(this.value(depth + 1));
    } while (!this.ends("]"));
    return list;
  }

  /** Skips the opening bracket; returns whether the closing one follows. */
  private begins(closing: string): boolean {
    this.at++;
    this.skipSpaces();
    if (this.text[this.at] !== closing) return false;
    this.at++;
    return true;
  }

  /** Skips a comma, or the closing bracket, for which it returns true. */
  private ends(closing: string): boolean {
    this.skipSpaces();
    const next = this.text[this.at++];
    if (next !== closing && next !== ",") throw new NotSimple();
    return next === closing;
  }

  private quoted(quote: '"' | "'"): string {
    const text = this.match(quote === '"' ? this.inDoubleQuotes : this.inSingleQuotes);
    return quote === '"' ? unescaped(text) : text.replaceAll("''", "'");
  }

  private plain(): string {
    this.plainScalar.lastIndex = this.at;
    const [text] = this.plainScalar.exec(this.text) ?? [];
    // A lone dash begins an item of a sequence, or is an error.
    if (text === undefined || text === "-") throw new NotSimple();
    this.at += text.length;
    return text;
  }

  private match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match === null) throw new NotSimple();
    this.at = pattern.lastIndex;
    return match[1]!;
  }

  private skipSpaces(): void {
    while (this.text[this.at] === " ") this.at++;
  }
}
