import type { Entry } from "../../storage/store.ts";
import { asBuffer, metadataAt } from "../objects/stored.ts";

/**
 * The form of the items of a list: `typed` items have apiVersion and kind, as those of custom kinds; `bare` items don't, as those of
 * built-in kinds, because the kind of the list implies them.
 */
export type ItemForm = "typed" | "bare";

const comma = 0x2c;
const brace = 0x7b;

/** Copies the bodies of entries into one buffer, each after a comma, in the form of list items. */
export function joinBodies(entries: readonly Entry[], form: ItemForm): Buffer {
  if (entries.every(isJoined)) return joinPieces(entries);
  let size = 0;
  for (const entry of entries) size += itemBytes(entry, form);
  const joined = Buffer.allocUnsafeSlow(size);
  let at = 0;
  for (const entry of entries) {
    joined[at++] = comma;
    const omitted = omittedBytes(entry, form);
    if (omitted > 0) joined[at++] = brace;
    const rest = omitted > 0 ? entry.body.subarray(omitted + 1) : entry.body;
    joined.set(rest, at);
    at += rest.length;
  }
  return joined;
}

function isJoined(entry: Entry): entry is JoinedEntry {
  return entry instanceof JoinedEntry;
}

/** As {@link joinBodies}, for entries of joined buffers, which have their form already; consecutive ones are copied together. */
function joinPieces(entries: readonly JoinedEntry[]): Buffer {
  const runs: Buffer[] = [];
  let first: JoinedEntry | undefined;
  let last: JoinedEntry | undefined;
  const endRun = (): void => {
    if (first !== undefined) runs.push(first.piece.subarray(first.start - 1, last!.end));
  };
  for (const entry of entries) {
    if (last === undefined || entry.piece !== last.piece || entry.start - 1 !== last.end) {
      endRun();
      first = entry;
    }
    last = entry;
  }
  endRun();
  return Buffer.concat(runs);
}

/** The number of bytes of an entry in the joined buffer, with the comma before it. */
function itemBytes(entry: Entry, form: ItemForm): number {
  return 1 + entry.body.length - omittedBytes(entry, form);
}

/** The number of bytes of kind and apiVersion, after the brace, that an item omits. */
function omittedBytes(entry: Entry, form: ItemForm): number {
  return form === "typed" ? 0 : metadataAt(entry) - 1;
}

/**
 * An entry whose body is a part of a joined buffer. A bare item lacks the beginning of the body, so each access to the body copies it.
 */
export class JoinedEntry implements Entry {
  readonly key: Entry["key"];
  readonly revision: Entry["revision"];
  readonly revisionAt: number;

  /**
   * @param piece the joined buffer.
   * @param beginning the brace, kind and apiVersion of the body for a bare item; empty for a typed one.
   * @param start position of the item in `piece`, after its comma.
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

  /** See {@link omittedBytes}. */
  get omittedBytes(): number {
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

/** The position of an item's JSON in a buffer. */
export interface ItemAt {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  /** Position of the value of its metadata. */
  readonly metadata: number;
}

const nameOfMetadata = '"metadata":';

/** The position of the JSON of an entry, without a copy; it may omit kind and apiVersion. */
export function itemAt(entry: Entry): ItemAt {
  const before = metadataAt(entry) + nameOfMetadata.length;
  if (entry instanceof JoinedEntry) {
    const { piece, start, end } = entry;
    return { bytes: piece, start, end, metadata: start + before - entry.omittedBytes };
  }
  const bytes = asBuffer(entry.body);
  return { bytes, start: 0, end: bytes.length, metadata: before };
}

/**
 * Creates the same entries with their bodies in the joined buffer and their headers in another one, so that the buffers of the store can
 * be freed.
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
    // The items of a collection have one kind, so they share the beginning.
    const omitted = omittedBytes(entry, form);
    const own = asBuffer(entry.body).subarray(0, omitted === 0 ? 0 : omitted + 1);
    if (!own.equals(beginning)) beginning = Buffer.from(own);
    return new JoinedEntry(entry, headers.subarray(headerStart, headerAt), joined, beginning, start, end);
  });
}

/** The number of bytes of all headers. */
export function headerBytes(entries: readonly Entry[]): number {
  let size = 0;
  for (const { header } of entries) size += header.length;
  return size;
}

/** The part of the joined buffer with consecutive entries, from the comma before the first. */
export function stretchOf(entries: readonly JoinedEntry[]): Buffer {
  const first = entries[0];
  const last = entries.at(-1);
  if (first === undefined || last === undefined) return Buffer.alloc(0);
  return first.piece.subarray(first.start - 1, last.end);
}
