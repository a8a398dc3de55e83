import type { Draft, Entry, Revision, StoreEvent } from "./store.ts";

/** Brands a number as a revision. The caller guarantees that it is one. */
export function revisionOf(value: number): Revision {
  return value as Revision;
}

/** The revision of a new store. */
export const firstRevision = revisionOf(1);

/** Creates the entry of a draft committed at a revision, with the revision inserted into the body; allocates once. */
export function entryFromDraft(key: string, revision: Revision, draft: Draft): Entry {
  const { header, body, revisionAt } = draft;
  const digits = String(revision);
  const bytes = Buffer.allocUnsafeSlow(header.length + body.length + digits.length);
  bytes.set(header, 0);
  spliceRevision(bytes, header.length, body, revisionAt, digits);
  return {
    key,
    revision,
    header: bytes.subarray(0, header.length),
    body: bytes.subarray(header.length),
    revisionAt,
  };
}

/** What an entry keeps in another form. */
type EntryIdentity = Pick<Entry, "key" | "revision" | "outdated">;

/** Returns an entry with the content of a draft, at the same revision; the header isn't copied. */
export function entryWith(
  { key, revision, outdated }: EntryIdentity,
  { header, body, revisionAt }: Draft,
): Entry {
  const digits = String(revision);
  const bytes = Buffer.allocUnsafe(body.length + digits.length);
  spliceRevision(bytes, 0, body, revisionAt, digits);
  const entry = { key, revision, header, revisionAt, body: bytes };
  return outdated === undefined ? entry : { ...entry, outdated };
}

/** Returns the draft of an entry: its content without the revision. */
export function draftOf({ header, body, revision, revisionAt }: Entry): Draft {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const rest = bytes.subarray(revisionAt + String(revision).length);
  return { header, body: Buffer.concat([bytes.subarray(0, revisionAt), rest]), revisionAt };
}

/** Writes `body` with `digits` inserted at `revisionAt` into `target` from `offset`; returns the end offset. */
export function spliceRevision(
  target: Buffer,
  offset: number,
  body: Uint8Array,
  revisionAt: number,
  digits: string,
): number {
  if (revisionAt < 0 || revisionAt > body.length) {
    throw new RangeError(`revisionAt ${revisionAt} lies outside a body of ${body.length} bytes`);
  }
  target.set(body.subarray(0, revisionAt), offset);
  target.write(digits, offset + revisionAt, "latin1");
  target.set(body.subarray(revisionAt), offset + revisionAt + digits.length);
  return offset + body.length + digits.length;
}

const eventOverheadBytes = 256;

/** Returns the approximate memory that an event retains, in bytes. */
export function eventBytes(event: StoreEvent): number {
  return eventOverheadBytes + event.key.length + entryBytes(event.entry) + entryBytes(event.previous);
}

function entryBytes(entry: Entry | undefined): number {
  return entry === undefined ? 0 : entry.header.length + entry.body.length;
}
