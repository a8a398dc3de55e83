import { encodeJson } from "../../../base/json/encode.ts";
import type { JsonValue } from "../../../base/json/value.ts";
import { decodeTrusted } from "../../../base/json/trusted.ts";
import type { YieldIfDue } from "../../../base/turns/yielding.ts";

/**
 * Size of the pieces into which texts are joined, so that not all texts and all bytes of a large document are in memory
 * together, and writing a piece to a client takes about a millisecond.
 */
const pieceChars = 256 * 1024;

/**
 * A member of a document that is a map, such as its paths. Values are kept as JSON text, because they are large as
 * objects and are only written.
 */
export class DocumentMembers {
  private readonly texts = new Map<string, string>();

  has(name: string): boolean {
    return this.texts.has(name);
  }

  /** Returns the JSON of a value. */
  text(name: string): string | undefined {
    return this.texts.get(name);
  }

  set(name: string, value: unknown): void {
    this.texts.set(name, encodeJson(value as JsonValue));
  }

  /** Adds values whose names aren't present yet. */
  add(values: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(values)) if (!this.texts.has(name)) this.set(name, value);
  }

  /** Adds the members of another map. */
  addAll(other: DocumentMembers): void {
    for (const [name, text] of other.texts) if (!this.texts.has(name)) this.texts.set(name, text);
  }

  /** Iterates over the values in the order of their names, and decodes each when it is reached. */
  *values(): Generator<readonly [name: string, value: unknown]> {
    for (const [name, text] of this.inOrder()) yield [name, decodeTrusted(Buffer.from(text))];
  }

  inOrder(): readonly (readonly [name: string, text: string])[] {
    return [...this.texts].toSorted(([one], [other]) => (one < other ? -1 : 1));
  }
}

/** A document; some of its members are {@link DocumentMembers}. */
export type DocumentText = Readonly<Record<string, unknown>>;

/** Encodes a document as JSON, in pieces. */
export async function jsonPieces(document: DocumentText, yieldIfDue: YieldIfDue): Promise<readonly Buffer[]> {
  const pieces: Buffer[] = [];
  let texts: string[] = [];
  let chars = 0;
  const flush = (): void => {
    pieces.push(Buffer.from(texts.join("")));
    texts = [];
    chars = 0;
  };
  for await (const text of textsOf(document, yieldIfDue)) {
    texts.push(text);
    chars += text.length;
    if (chars >= pieceChars) flush();
  }
  flush();
  return pieces;
}

async function* textsOf(document: DocumentText, yieldIfDue: YieldIfDue): AsyncGenerator<string> {
  let before = "{";
  for (const [name, value] of Object.entries(document)) {
    yield `${before}${JSON.stringify(name)}:`;
    before = ",";
    if (value instanceof DocumentMembers) yield* membersOf(value, yieldIfDue);
    else if (name === "components") yield* textsOf(value as DocumentText, yieldIfDue);
    else yield encodeJson(value as JsonValue);
  }
  yield "}";
}

async function* membersOf(members: DocumentMembers, yieldIfDue: YieldIfDue): AsyncGenerator<string> {
  let before = "{";
  for (const [name, text] of members.inOrder()) {
    yield `${before}${JSON.stringify(name)}:${text}`;
    before = ",";
    await yieldIfDue();
  }
  yield before === "{" ? "{}" : "}";
}
