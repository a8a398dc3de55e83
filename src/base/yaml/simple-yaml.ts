import type { JsonObject, JsonValue } from "../json/value.ts";
import {
  FlowReader,
  keyAt,
  maxFlowDepth,
  NotSimple,
  plainValue,
  unescaped,
  type SimpleKey,
} from "./simple-scalars.ts";

/** Longer texts are read by the complete parser, which yields to the event loop; these take about 10 ms. */
const maxCharacters = 512 * 1024;
/** Deepest nesting of blocks. */
const maxBlockDepth = 64;
/** Deepest nesting of blocks with a flow collection in them. */
const maxSimpleDepth = maxBlockDepth + maxFlowDepth;
/** Control characters, tabs, carriage returns, marks and characters beyond the basic plane. */
const unusual = /[^\n\x20-\x7e\xa1-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\ud7ff\ue000-\ufdcf\ufdf0-\ufefe]/;
/** Directives and marks of documents at the start of a line. */
const mark = /^(?:---|\.\.\.|%)/m;

/** How a plain scalar begins; others begin with an indicator. */
const plainStart = /^(?:[A-Za-z0-9_./$+(<=^~\\]|-[^ ])/;

/**
 * Reads YAML of the form that most manifests have, about ten times as fast as the complete parser: block mappings and sequences, plain,
 * quoted, literal and folded scalars, and flow collections in one line. The result is the same.
 *
 * @param maxDepth the nesting that is allowed.
 * @returns undefined for a text that needs the complete parser: with anchors, tags, repeated members, directives, several documents, tabs or
 *   other constructs that are rare, and every text with an error.
 */
export function decodeSimpleYaml(text: string, maxDepth: number): JsonValue | undefined {
  if (maxDepth < maxSimpleDepth || text.length > maxCharacters || unusual.test(text)) return undefined;
  const start = /^(?:[ ]*(?:#[^\n]*)?\n)*--- *\n/.exec(text)?.[0].length ?? 0;
  const content = text.slice(start);
  if (mark.test(content)) return undefined;
  try {
    return new SimpleReader(content).read();
  } catch (error) {
    if (error instanceof NotSimple) return undefined;
    throw error;
  }
}

class SimpleReader {
  private readonly lines: string[];
  /** Index of the current line. */
  private at = 0;
  /** Indentation of the current line; -1 behind the last one. */
  private indent = -1;
  /** The current line without its indentation. */
  private content = "";
  private depth = 0;

  constructor(text: string) {
    this.lines = text.split("\n");
    // Behind the last line feed is no line.
    if (this.lines.at(-1) === "") this.lines.pop();
  }

  read(): JsonValue {
    this.enter();
    if (this.indent === -1) throw new NotSimple();
    const value = this.block(this.indent);
    if (this.at < this.lines.length) throw new NotSimple();
    return value;
  }

  /** Moves to the next line with content, beginning with the current one. */
  private enter(): void {
    for (; this.at < this.lines.length; this.at++) {
      const line = this.lines[this.at]!;
      const indent = indentOf(line);
      if (indent === line.length || line[indent] === "#") continue;
      this.indent = indent;
      this.content = line.slice(indent);
      return;
    }
    this.indent = -1;
    this.content = "";
  }

  private next(): void {
    this.at++;
    this.enter();
  }

  /** Reads a mapping or sequence whose items begin at a column, in the current line. */
  private block(column: number): JsonValue {
    if (++this.depth > maxBlockDepth) throw new NotSimple();
    const value = isItem(this.content) ? this.sequence(column) : this.mapping(column);
    this.depth--;
    if (this.indent > column) throw new NotSimple();
    return value;
  }

  private mapping(column: number): JsonObject {
    const object: JsonObject = {};
    while (this.indent === column && !isItem(this.content)) {
      const key = keyAt(this.content);
      if (key === undefined || Object.hasOwn(object, key.name)) throw new NotSimple();
      object[key.name] = this.member(column, key);
    }
    return object;
  }

  private member(column: number, { length }: SimpleKey): JsonValue {
    const rest = this.content.slice(length);
    if (rest !== "" && rest[0] !== "#") return this.scalar(rest, column);
    this.next();
    if (this.indent > column) return this.block(this.indent);
    return this.indent === column && isItem(this.content) ? this.block(column) : null;
  }

  private sequence(column: number): JsonValue[] {
    const list: JsonValue[] = [];
    while (this.indent === column && isItem(this.content)) list.push(this.item(column));
    return list;
  }

  private item(column: number): JsonValue {
    const inner = 1 + indentOf(this.content.slice(1));
    const rest = this.content.slice(inner);
    if (rest === "") {
      this.next();
      return this.indent > column ? this.block(this.indent) : null;
    }
    if (rest[0] === "#") throw new NotSimple();
    if (!isItem(rest) && keyAt(rest) === undefined) return this.scalar(rest, column);
    // The item is a collection that begins in this line.
    this.indent = column + inner;
    this.content = rest;
    return this.block(this.indent);
  }

  /** Reads a value that begins in the current line, and moves behind it. @param column of the collection with the value. */
  private scalar(text: string, column: number): JsonValue {
    const first = text[0]!;
    if (first === '"' || first === "'") return this.quoted(text, first);
    if (first === "|" || first === ">") return this.literal(text.trimEnd(), column);
    if (first === "{" || first === "[") {
      const { value, end } = new FlowReader(text).read(0);
      this.endLine(text.slice(end));
      return value;
    }
    if (!plainStart.test(text)) throw new NotSimple();
    return this.plain(text, column);
  }

  /** Moves to the next line. @param rest of the current line: nothing, or a comment. */
  private endLine(rest: string): void {
    if (!/^ *(?: #.*)?$/.test(rest)) throw new NotSimple();
    this.next();
  }

  private plain(text: string, column: number): JsonValue {
    const { words, hasComment } = wordsOf(text);
    let whole = words;
    let breaks = 0;
    for (this.at++; this.at < this.lines.length; this.at++) {
      const line = this.lines[this.at]!;
      const indent = indentOf(line);
      if (indent === line.length) {
        breaks++;
        continue;
      }
      if (indent <= column) break;
      const part = wordsOf(line.slice(indent));
      // A comment ends the value; what follows in a deeper line is an error.
      if (hasComment || part.hasComment || /^(?:#|[-?:](?: |$))/.test(part.words)) throw new NotSimple();
      whole += (breaks === 0 ? " " : "\n".repeat(breaks)) + part.words;
      breaks = 0;
    }
    this.enter();
    return plainValue(whole);
  }

  private quoted(text: string, quote: string): string {
    const closed = quote === '"' ? /^((?:[^"\\]|\\.)*)"/ : /^((?:[^']|'')*)'(?!')/;
    let part = text.slice(1);
    let match = closed.exec(part);
    let whole = "";
    // Lines without the closing quote are folded.
    while (match === null) {
      part = withoutEnd(part);
      if (part.endsWith("\\")) throw new NotSimple();
      whole += part;
      let breaks = 0;
      do {
        const line = this.lines[++this.at];
        if (line === undefined) throw new NotSimple();
        part = line.slice(indentOf(line));
        breaks++;
      } while (part === "");
      whole += breaks === 1 ? " " : "\n".repeat(breaks - 1);
      match = closed.exec(part);
    }
    this.endLine(part.slice(match[0].length));
    whole += match[1]!;
    return quote === '"' ? unescaped(whole) : whole.replaceAll("''", "'");
  }

  /** Reads a literal or folded scalar below the current line. */
  private literal(header: string, column: number): string {
    if (!/^[|>][+-]?$/.test(header)) throw new NotSimple();
    const lines: string[] = [];
    let inner = -1;
    for (this.at++; this.at < this.lines.length; this.at++) {
      const line = this.lines[this.at]!;
      const indent = indentOf(line);
      const isBlank = indent === line.length;
      if (inner === -1 && !isBlank) {
        if (indent <= column) break;
        // A blank line before the content must not be longer than its indentation.
        if (lines.some((one) => one.length > indent)) throw new NotSimple();
        inner = indent;
        lines.fill("");
      }
      if (inner === -1) lines.push(line);
      else if (indent >= inner) lines.push(line.slice(inner));
      else if (isBlank) lines.push("");
      else if (indent > column) throw new NotSimple();
      else break;
    }
    // What ends without a line feed, and values without content, are rare.
    if (inner === -1 || this.at >= this.lines.length) throw new NotSimple();
    this.enter();
    return chomped(lines, header);
  }
}

/** Returns the text of the lines of a block scalar. */
function chomped(lines: readonly string[], header: string): string {
  let count = lines.length;
  while (count > 0 && lines[count - 1] === "") count--;
  const content = lines.slice(0, count);
  const blank = lines.length - count;
  const text = header[0] === "|" ? content.join("\n") : folded(content);
  if (header[1] === "-") return text;
  return text + "\n".repeat(header[1] === "+" ? blank + 1 : 1);
}

/** Joins lines by spaces; a blank line is a line feed. */
function folded(lines: readonly string[]): string {
  let text = "";
  let breaks = 0;
  for (const [index, line] of lines.entries()) {
    if (line === "") {
      breaks++;
      continue;
    }
    // Lines that are indented further keep their line feeds.
    if (line[0] === " ") throw new NotSimple();
    text += (index === breaks ? "\n".repeat(breaks) : breaks === 0 ? " " : "\n".repeat(breaks)) + line;
    breaks = 0;
  }
  return text;
}

/** Splits a line of a plain scalar from the comment behind it. @throws {NotSimple} if it may be more than a scalar. */
function wordsOf(line: string): { readonly words: string; readonly hasComment: boolean } {
  const comment = line.indexOf(" #");
  const words = withoutEnd(comment === -1 ? line : line.slice(0, comment));
  if (words.includes(": ") || words.endsWith(":")) throw new NotSimple();
  return { words, hasComment: comment !== -1 };
}

/** Returns a text without the spaces at its end. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (text[end - 1] === " ") end--;
  return text.slice(0, end);
}

/** Number of spaces at the start of a line. */
function indentOf(line: string): number {
  let indent = 0;
  while (line.charCodeAt(indent) === 0x20) indent++;
  return indent;
}

function isItem(content: string): boolean {
  return content === "-" || content.startsWith("- ");
}
