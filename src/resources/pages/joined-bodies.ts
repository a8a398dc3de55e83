import type { Entry } from "../../storage/store.ts";
import { asBuffer, metadataAt } from "../objects/stored.ts";

/**
 * How the items of a list are written: `typed`, each with its apiVersion and kind, as items of custom kinds are; or `bare`,
 * without them, as items of built-in kinds are, since the list's own kind says what they are.
 */
export type ItemForm = "typed" | "bare";

const comma = 0x2c;
const brace = 0x7b;

/** Copies the bodies of entries into one piece, each after a comma, in the form that items of a list have. */
export function joinBodies(entries: readonly Entry[], form: ItemForm): Buffer {
  let size = 0;
  for (const entry of entries) size += itemBytes(entry, form);
  const joined = Buffer.allocUnsafeSlow(size);
  let at = 0;
  for (const entry of entries) {
    joined[at++] = comma;
    const left = bytesLeftOut(entry, form);
    if (left > 0) joined[at++] = brace;
    const rest = left > 0 ? entry.body.subarray(left + 1) : entry.body;
    joined.set(rest, at);
    at += rest.length;
  }
  return joined;
}

/** How many bytes an entry takes in a joined piece, with the comma before it. */
function itemBytes(entry: Entry, form: ItemForm): number {
  return 1 + entry.body.length - bytesLeftOut(entry, form);
}

/** How many bytes of a body an item lacks, behind its brace: its kind and apiVersion. */
function bytesLeftOut(entry: Entry, form: ItemForm): number {
  return form === "typed" ? 0 : metadataAt(entry) - 1;
}

/**
 * An entry whose body is a part of the piece into which it was joined. A bare item lacks the beginning of the body, so the whole
 * body is put together anew each time that it is asked for.
 */
export class JoinedEntry implements Entry {
  readonly key: Entry["key"];
  readonly revision: Entry["revision"];
  readonly revisionAt: number;

  /**
   * @param beginning the brace, kind and apiVersion of a body whose item is bare; empty where it is typed.
   * @param start position of the item in the piece, behind its comma.
   */
  constructor(
    entry: Entry,
    readonly header: Uint8Array,
    readonly piece: Buffer,
    private readonly beginning: Buffer,
    readonly start: number,
    readonly end: number,
  ) {
    this.key = entry.key;
    this.revision = entry.revision;
    this.revisionAt = entry.revisionAt;
  }

  /** How many bytes the item lacks, behind its brace: its kind and apiVersion. */
  get bytesLeftOut(): number {
    return Math.max(0, this.beginning.length - 1);
  }

  get body(): Buffer {
    const { beginning, piece, start, end } = this;
    if (beginning.length === 0) return piece.subarray(start, end);
    const body = Buffer.allocUnsafe(beginning.length + end - start - 1);
    beginning.copy(body);
    piece.copy(body, beginning.length, start + 1, end);
    return body;
  }
}

/** Where the JSON of an item is. */
export interface ItemAt {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  /** Of the value of its metadata. */
  readonly metadata: number;
}

const nameOfMetadata = '"metadata":';

/** Where the JSON of an entry's item is, without a copy; the item may lack its kind and apiVersion. */
export function itemAt(entry: Entry): ItemAt {
  const before = metadataAt(entry) + nameOfMetadata.length;
  if (entry instanceof JoinedEntry) {
    const { piece, start, end } = entry;
    return { bytes: piece, start, end, metadata: start + before - entry.bytesLeftOut };
  }
  const bytes = asBuffer(entry.body);
  return { bytes, start: 0, end: bytes.length, metadata: before };
}

/**
 * The same entries, with their bodies in the piece into which they were joined, and their headers as parts of another, so that
 * the memory in which the store handed them out isn't held.
 */
export function entriesIn(joined: Buffer, entries: readonly Entry[], form: ItemForm): JoinedEntry[] {
  const headers = Buffer.allocUnsafeSlow(headerBytes(entries));
  let end = 0;
  let headerAt = 0;
  let beginning = Buffer.alloc(0);
  return entries.map((entry) => {
    const start = end + 1;
    end += itemBytes(entry, form);
    const headerStart = headerAt;
    headerAt += entry.header.length;
    headers.set(entry.header, headerStart);
    // The items of a collection have one kind, so its beginning is kept once.
    const left = bytesLeftOut(entry, form);
    const own = asBuffer(entry.body).subarray(0, left === 0 ? 0 : left + 1);
    if (!own.equals(beginning)) beginning = Buffer.from(own);
    return new JoinedEntry(entry, headers.subarray(headerStart, headerAt), joined, beginning, start, end);
  });
}

/** How many bytes the headers of entries have together. */
export function headerBytes(entries: readonly Entry[]): number {
  let size = 0;
  for (const { header } of entries) size += header.length;
  return size;
}

/** The stretch of their piece that neighbouring entries take up, from the comma before the first. */
export function stretchOf(entries: readonly JoinedEntry[]): Buffer {
  const first = entries[0];
  const last = entries.at(-1);
  if (first === undefined || last === undefined) return Buffer.alloc(0);
  return first.piece.subarray(first.start - 1, last.end);
}
