/**
 * The layout of a store in an LMDB environment. Databases:
 *
 * | name      | key                              | value                                                        |
 * | --------- | -------------------------------- | ------------------------------------------------------------ |
 * | `data`    | key, UTF-8                       | record: the present value                                    |
 * | `log`     | revision, 8 bytes                | kind (1 byte), key length (2), key, then, but for a create,  |
 * |           |                                  | the record of the value that this revision superseded        |
 * | `history` | key, NUL, supersededAt (8 bytes) | empty: an index into the log, of every 16th change of a key; |
 * |           |                                  | for a change of a transaction its log entry, without the key |
 * | `counts`  | collection or partition prefix   | number of present keys, 8 bytes                              |
 * | `marks`   | time in ms, 8 bytes              | the revision that was newest then, 8 bytes                   |
 * | `meta`    | `state`                          | format, latest revision, floor, its mark's time, its batch,  |
 * |           |                                  | in 3 and 5 also the time since which commits aren't synced   |
 * |           | `stamp`                          | what the store is used for, as JSON; absent in older folders |
 *
 * A record is: its revision (8 bytes), `revisionAt` (4), header length (4), form and unindexed changes (1), header, body with
 * the revision in place, and a checksum (4) of all this followed by the key. Numbers are big-endian, so that they sort like
 * their bytes. The newest mark is in the state, which each batch writes; a batch of a later time moves it to `marks`.
 *
 * **Versions.** Format 2 added the checksums: of records, of the state, and of the stamp. Records, states and stamps of
 * format 1 have none and are still read; the next write adds it. The first write of a program that supports format 2 sets the
 * format of the store, and programs that don't support it refuse the store. A store has format 3 while its syncs are deferred
 * (`syncs/`): a process that doesn't support it must not write to it. It gets format 2 again when it is closed. A store whose log has
 * transactions of several writes has format 4, or 5 while its syncs are deferred.
 *
 * Superseded values are in the log because the log grows only at its end: successive updates fill the same page, while storage
 * by key would touch one page each. They form a chain: the log entry R wrote the value of revision R and contains the previous
 * value, of revision Q, and so on to the creation of the key. To keep chains short, `history` has an entry for each delete, for
 * which `data` has no start of a chain, and for every {@link indexEvery}th change of a key; a record contains the number of
 * changes before it without an entry ({@link isIndexed}).
 *
 * To read the value of a key at revision R, which is not below the floor, start at the key's first `history` entry above R, or
 * at the revision of its value in `data` if there is none. While the revision is above R, continue with the revision of the
 * value in that log entry. Every step is above the floor, so a log entry and its `history` entry can be deleted when the floor
 * reaches them. Example: a key created at 5, updated at 7 and 9, deleted at 12 has the log entries 5 (no
 * value), 7 (the value of 5), 9 (of 7), 12 (of 9) and the index entry 12; a read at 8 follows 12, 9 and returns the value of 7.
 *
 * A transaction of several writes has one log entry, which lists its changes: for each its kind, key length and key. The superseded
 * values are in `history`, which has an entry for each of its changes, so that a change is found without reading the others.
 */
import { revisionOf, spliceRevision } from "../entry.ts";
import { checksumBytes, checksumOf, checksumOfText } from "./checksum.ts";
import type { Draft, Entry, Revision, Write } from "../store.ts";

/** Version of this layout. */
export const formatVersion = 2;

/** Version of the state while syncs are deferred. */
const deferredFormat = 3;

/** What a log with transactions adds to the version. */
const transactionsFormat = 2;

/** Supported versions of the layout; a folder of another version isn't changed. */
export const readableFormats: readonly number[] = [1, formatVersion, deferredFormat, 4, 5];

/** The largest revision, for ranges without an upper bound. */
export const maxRevision = revisionOf(Number.MAX_SAFE_INTEGER);

/** Maximum number of log entries that a read of a past revision follows. */
export const indexEvery = 16;

const recordPrefixBytes = 17;
/** The form of a record in the upper half of a byte; the lower half is the number of unindexed changes. */
const formAt = 16;
const formMask = 0xf0;
/** A record of format 1, without a checksum. */
const plainForm = 0x00;
/** A record with a checksum. It differs from the other form in three bits, so one flipped bit is detected. */
const checkedForm = 0x70;
const logPrefixBytes = 3;
const uint32 = 0x1_0000_0000;

export function writeUint64(target: Buffer, value: number, offset: number): number {
  target.writeUInt32BE(Math.floor(value / uint32), offset);
  return target.writeUInt32BE(value % uint32, offset + 4);
}

export function readUint64(source: Buffer, offset: number): number {
  return source.readUInt32BE(offset) * uint32 + source.readUInt32BE(offset + 4);
}

/** Encodes a number for `counts` and `marks`. */
export function encodeNumber(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  writeUint64(bytes, value, 0);
  return bytes;
}

/**
 * Returns the entry of a draft and its record; both share one allocation.
 *
 * @param previous the superseded value, from {@link decodeRecord}.
 */
export function encodeRecord(
  key: string,
  revision: Revision,
  draft: Draft,
  previous: Entry | undefined,
): { entry: Entry; record: Buffer } {
  const { header, body, revisionAt } = draft;
  const digits = String(revision);
  const bodyAt = recordPrefixBytes + header.length;
  const end = bodyAt + body.length + digits.length;
  const record = Buffer.allocUnsafe(end + checksumBytes);
  writeUint64(record, revision, 0);
  record.writeUInt32BE(revisionAt, 8);
  record.writeUInt32BE(header.length, 12);
  const unindexed = ((previous === undefined ? 0 : unindexedIn(recordOf(previous))) + 1) % indexEvery;
  record[formAt] = checkedForm | unindexed;
  record.set(header, recordPrefixBytes);
  spliceRevision(record, bodyAt, body, revisionAt, digits);
  record.writeUInt32BE(checksumOfText(key, checksumOf(record.subarray(0, end))), end);
  return { entry: decodeRecord(key, record), record };
}

/** Size of the checksum of a record in bytes. */
function checksumBytesIn(form: number | undefined): number {
  if (form === undefined) throw new RangeError("a record is cut off");
  if ((form & formMask) === checkedForm) return checksumBytes;
  if ((form & formMask) !== plainForm) throw new RangeError("a record is of no known form");
  return 0;
}

/** Returns the offset of the checksum in a record of `length` bytes; undefined if it has none. */
export function checksumAt(record: Uint8Array, length: number): number | undefined {
  const end = length - checksumBytesIn(length > formAt ? record[formAt] : undefined);
  return end === length ? undefined : end;
}

/**
 * Verifies that a record was written under the key, if it has a checksum.
 *
 * @throws {RangeError} if it doesn't match.
 */
export function assertRecord(key: string, record: Buffer): void {
  const end = checksumAt(record, record.length);
  if (
    end !== undefined &&
    checksumOfText(key, checksumOf(record.subarray(0, end))) !== record.readUInt32BE(end)
  )
    throw new RangeError("its checksum differs");
}

/**
 * Decodes the record in `length` bytes of `source` from `offset`; header and body are views. Doesn't verify the checksum.
 *
 * @throws {RangeError} for a malformed record.
 */
export function decodeRecord(key: string, source: Buffer, offset = 0, length = source.length): Entry {
  if (length < recordPrefixBytes) throw new RangeError("a record is cut off");
  const headerAt = source.byteOffset + offset + recordPrefixBytes;
  const headerLength = source.readUInt32BE(offset + 12);
  const bodyLength = length - recordPrefixBytes - headerLength - checksumBytesIn(source[offset + formAt]);
  if (bodyLength < 0) throw new RangeError("a record is cut off");
  return {
    key,
    revision: revisionOf(readUint64(source, offset)),
    header: new Uint8Array(source.buffer, headerAt, headerLength),
    body: new Uint8Array(source.buffer, headerAt + headerLength, bodyLength),
    revisionAt: source.readUInt32BE(offset + 8),
  };
}

/** Returns the record of an entry from {@link decodeRecord}, which is a view of it. */
export function recordOf(entry: Entry): Buffer {
  const { header, body } = entry;
  const bytes = header.buffer as ArrayBuffer;
  const start = header.byteOffset - recordPrefixBytes;
  const length = recordPrefixBytes + header.length + body.length;
  const checksum = checksumBytesIn(Buffer.from(bytes, start, recordPrefixBytes)[formAt]);
  return Buffer.from(bytes, start, length + checksum);
}

export interface State {
  readonly revision: Revision;
  readonly floor: Revision;
  /** The time mark of {@link revision}, which is stored with the next one. */
  readonly markTime: number;
  /** Number of the batch that wrote this state; 0 if another operation did. */
  readonly batch: number;
  /**
   * Present while syncs are deferred: the time since which commits may not be synced, in milliseconds since 1970; 0 if this commit and
   * all before it are.
   */
  readonly unsyncedSince?: number | undefined;
  /** Whether the log may have transactions of several writes. */
  readonly hasTransactions?: boolean | undefined;
}

/** Offset of the batch number in a state record; records of earlier versions end here. */
const batchAt = 25;
/** Offset of the checksum, and of the time of the oldest unsynced commit while syncs are deferred. */
const stateEnd = 33;
const deferredStateEnd = 41;

export function encodeState({
  revision,
  floor,
  markTime,
  batch,
  unsyncedSince,
  hasTransactions = false,
}: State): Buffer {
  const end = unsyncedSince === undefined ? stateEnd : deferredStateEnd;
  const bytes = Buffer.allocUnsafe(end + checksumBytes);
  bytes[0] =
    (unsyncedSince === undefined ? formatVersion : deferredFormat) +
    (hasTransactions ? transactionsFormat : 0);
  writeUint64(bytes, revision, 1);
  writeUint64(bytes, floor, 9);
  writeUint64(bytes, markTime, 17);
  writeUint64(bytes, batch, batchAt);
  if (unsyncedSince !== undefined) writeUint64(bytes, unsyncedSince, stateEnd);
  bytes.writeUInt32BE(checksumOf(bytes.subarray(0, end)), end);
  return bytes;
}

/** Whether a state record of a supported format is intact; always true without a checksum. */
export function isStateSound(bytes: Buffer): boolean {
  const [format = 0] = bytes;
  if (format < formatVersion || !readableFormats.includes(format))
    return bytes.length === batchAt || bytes.length === stateEnd;
  const end = isDeferred(format) ? deferredStateEnd : stateEnd;
  if (bytes.length !== end + checksumBytes) return false;
  return bytes.readUInt32BE(end) === checksumOf(bytes.subarray(0, end));
}

/** Whether syncs are deferred in a state of a format. */
function isDeferred(format: number): boolean {
  return format === deferredFormat || format === deferredFormat + transactionsFormat;
}

/** Decodes the state record; keeps no reference to the bytes. */
export function decodeState(bytes: Buffer): State {
  const format = bytes[0]!;
  return {
    revision: revisionOf(readUint64(bytes, 1)),
    floor: revisionOf(readUint64(bytes, 9)),
    markTime: readUint64(bytes, 17),
    batch: bytes.length > batchAt ? readUint64(bytes, batchAt) : 0,
    unsyncedSince: isDeferred(format) ? readUint64(bytes, stateEnd) : undefined,
    hasTransactions: format >= formatVersion + transactionsFormat ? true : undefined,
  };
}

/** Returns the number of consecutive changes of the key, up to this record, without an entry in `history`. */
function unindexedIn(record: Buffer, offset = 0): number {
  return record[offset + formAt]! & ~formMask;
}

/** Whether `history` has an entry for the change that superseded `record`; a create supersedes no record. */
export function isIndexed(kind: Write["kind"], record: Buffer, offset = 0): boolean {
  return kind === "delete" || (kind === "update" && unindexedIn(record, offset) === indexEvery - 1);
}

const kinds = ["create", "update", "delete"] as const satisfies readonly Write["kind"][];

export interface LogRecord {
  readonly kind: Write["kind"];
  readonly key: string;
  /** Offset of the superseded record in the log entry; the entry of a create ends there. */
  readonly recordAt: number;
}

/**
 * Writes a log entry to the start of `target` if it fits.
 *
 * @param superseded record of the superseded value.
 * @returns the length of the entry, also if it doesn't fit.
 */
export function writeLogRecord(
  target: Buffer,
  kind: Write["kind"],
  key: string,
  superseded: Buffer | undefined,
): number {
  const keyLength = Buffer.byteLength(key);
  const recordAt = logPrefixBytes + keyLength;
  const length = recordAt + (superseded?.length ?? 0);
  if (length > target.length) return length;
  target[0] = kinds.indexOf(kind);
  target.writeUInt16BE(keyLength, 1);
  target.write(key, logPrefixBytes);
  if (superseded !== undefined) target.set(superseded, recordAt);
  return length;
}

/** The kind of the log entry of a transaction of several writes. */
const transactionKind = 3;

/** Whether a log entry is that of a transaction. */
export function isTransaction(bytes: Buffer): boolean {
  return bytes[0] === transactionKind;
}

/** A change in the log entry of a transaction. */
export type ListedChange = Pick<LogRecord, "kind" | "key">;

/** Encodes the log entry of a transaction. */
export function encodeTransaction(changes: readonly ListedChange[]): Buffer {
  const parts: Buffer[] = [Buffer.from([transactionKind])];
  for (const { kind, key } of changes) {
    const head = Buffer.allocUnsafe(logPrefixBytes);
    head[0] = kinds.indexOf(kind);
    const name = Buffer.from(key);
    head.writeUInt16BE(name.length, 1);
    parts.push(head, name);
  }
  return Buffer.concat(parts);
}

/**
 * Returns the changes in the log entry of a transaction; undefined for the entry of a single write.
 *
 * @throws {RangeError} for a malformed entry.
 */
export function changesOfTransaction(bytes: Buffer): ListedChange[] | undefined {
  if (!isTransaction(bytes)) return undefined;
  const changes: ListedChange[] = [];
  for (let at = 1; at < bytes.length;) {
    const kind = kinds[bytes[at]!];
    const keyAt = at + logPrefixBytes;
    if (kind === undefined || keyAt > bytes.length)
      throw new RangeError("a transaction in the log is cut off");
    at = keyAt + bytes.readUInt16BE(at + 1);
    if (at > bytes.length) throw new RangeError("a transaction in the log is cut off");
    changes.push({ kind, key: bytes.toString("utf8", keyAt, at) });
  }
  return changes;
}

export function decodeLogRecord(bytes: Buffer): LogRecord {
  const kind = kinds[bytes[0] ?? -1];
  if (kind === undefined) throw new RangeError("a log entry is of no known kind");
  const recordAt = logPrefixBytes + bytes.readUInt16BE(1);
  if (recordAt > bytes.length || (kind !== "create" && bytes.length < recordAt + recordPrefixBytes)) {
    throw new RangeError("a log entry is cut off");
  }
  if (kind === "create" && recordAt < bytes.length) throw new RangeError("a log entry is too long");
  return { kind, key: bytes.toString("utf8", logPrefixBytes, recordAt), recordAt };
}

/**
 * Returns the revision of the superseded value in a log entry; undefined for a create.
 */
export function supersededRevision(bytes: Buffer): Revision | undefined {
  if (bytes[0] === kinds.indexOf("create")) return undefined;
  return revisionOf(readUint64(bytes, logPrefixBytes + bytes.readUInt16BE(1)));
}

/** Returns the key of a history entry: the key of the object and the revision that superseded its value. */
export type HistoryKey = [key: string, supersededAt: Revision];
