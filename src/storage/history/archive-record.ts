/**
 * Records of kept history. A write of a kept collection commits one record with it: what the write did, who made it, and the value that
 * it superseded. The store inserts the revision of the write at the start of the record.
 *
 * The number in a record's key is the revision of the version before the write. A create has none: its number is the revision of the
 * newest record of the key, so that records of a key are in order, or 0.
 */
import { revisionOf } from "../entry.ts";
import { StoreValueError, type Draft, type Entry, type Revision } from "../store.ts";
import { subjectOf } from "./archive-keys.ts";

/** A record, decoded. */
export interface ArchiveRecord {
  /** Key that the record is about. */
  readonly key: string;
  /** Revision of the write. */
  readonly revision: Revision;
  readonly deleted: boolean;
  /** Revision of the superseded version; 0 for a create. */
  readonly previous: Revision | 0;
  /** The superseded value; undefined for a create, and for a value that was too large to keep. */
  readonly value: Entry | undefined;
  /** Encoded; see `origin-codec.ts`. */
  readonly origin: Uint8Array | undefined;
  /** Size of the record in bytes. */
  readonly bytes: number;
}

const format = 1;
const deletedFlag = 1;
const valueFlag = 2;
const originFlag = 4;
/** The record was written after the write, whose revision follows. */
const lateFlag = 8;
/** Format, flags and the previous revision. */
const headBytes = 10;
const colon = 0x3a;

/** Encodes a record. */
export function encodeArchiveRecord(record: {
  readonly deleted: boolean;
  readonly previous: Revision | 0;
  readonly value: Entry | undefined;
  readonly origin: Uint8Array | undefined;
  /** Revision of the write if the record is committed after it. */
  readonly revision?: Revision;
}): Draft {
  const { deleted, previous, value, origin, revision } = record;
  const lateBytes = revision === undefined ? 0 : 8;
  const originBytes = origin === undefined ? 0 : 2 + origin.length;
  const valueBytes = value === undefined ? 0 : 8 + value.header.length + value.body.length;
  const body = Buffer.allocUnsafe(1 + headBytes + lateBytes + originBytes + valueBytes);
  body[0] = colon;
  body[1] = format;
  body[2] =
    (deleted ? deletedFlag : 0) |
    (value === undefined ? 0 : valueFlag) |
    (origin === undefined ? 0 : originFlag) |
    (revision === undefined ? 0 : lateFlag);
  body.writeBigUInt64BE(BigInt(previous), 3);
  let at = 1 + headBytes;
  if (revision !== undefined) at = body.writeBigUInt64BE(BigInt(revision), at);
  if (origin !== undefined) {
    at = body.writeUInt16BE(origin.length, at);
    body.set(origin, at);
    at += origin.length;
  }
  if (value !== undefined) {
    at = body.writeUInt32BE(value.header.length, at);
    at = body.writeUInt32BE(value.revisionAt, at);
    body.set(value.header, at);
    body.set(value.body, at + value.header.length);
  }
  return { header: new Uint8Array(), body, revisionAt: 0 };
}

/**
 * Decodes a record; its value shares the bytes.
 *
 * @param key the key that it is about.
 * @throws {StoreValueError} it is of no known form.
 */
export function decodeArchiveRecord(
  entry: Entry,
  { key }: Pick<Entry, "key"> = subjectOf(entry.key),
): ArchiveRecord {
  const body = Buffer.from(entry.body.buffer, entry.body.byteOffset, entry.body.byteLength);
  const start = String(entry.revision).length + 1;
  if (body.length < start + headBytes || body[start - 1] !== colon || body[start] !== format)
    throw new StoreValueError(entry.key, "a record of the history is of no known form");
  try {
    const flags = body[start + 1]!;
    const previous = revisionOf(Number(body.readBigUInt64BE(start + 2))) as Revision | 0;
    let at = start + headBytes;
    let { revision } = entry;
    if ((flags & lateFlag) !== 0) {
      revision = revisionOf(Number(body.readBigUInt64BE(at)));
      at += 8;
    }
    let origin: Uint8Array | undefined;
    if ((flags & originFlag) !== 0) {
      const end = at + 2 + body.readUInt16BE(at);
      origin = body.subarray(at + 2, end);
      at = end;
    }
    const value = (flags & valueFlag) === 0 ? undefined : valueIn(body, at, key, previous);
    const deleted = (flags & deletedFlag) !== 0;
    return { key, revision, deleted, previous, value, origin, bytes: body.length };
  } catch (error) {
    if (error instanceof RangeError) throw new StoreValueError(entry.key, error.message);
    throw error;
  }
}

function valueIn(body: Buffer, at: number, key: string, revision: Revision | 0): Entry {
  const headerLength = body.readUInt32BE(at);
  const revisionAt = body.readUInt32BE(at + 4);
  const bodyAt = at + 8 + headerLength;
  if (bodyAt > body.length || revision === 0) throw new RangeError("a record of the history is cut off");
  return {
    key,
    revision,
    header: body.subarray(at + 8, bodyAt),
    body: body.subarray(bodyAt),
    revisionAt,
  };
}
