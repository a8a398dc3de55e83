/**
 * How a store lies in an LMDB environment. Databases:
 *
 * | name      | key                              | value                                             |
 * | --------- | -------------------------------- | ------------------------------------------------- |
 * | `data`    | key, UTF-8                       | record: the present value                         |
 * | `log`     | revision, 8 bytes                | kind (1 byte), key: one entry for every revision  |
 * | `history` | key, NUL, supersededAt (8 bytes) | record: the value that this revision replaced     |
 * | `counts`  | collection or partition prefix   | number of present keys, 8 bytes                   |
 * | `marks`   | time in ms, 8 bytes              | the revision that was newest then, 8 bytes        |
 * | `meta`    | `state`                          | format, latest revision, floor                    |
 *
 * A record is: its revision (8 bytes), `revisionAt` (4), header length (4), header, body with the revision in place.
 * Numbers are big-endian, so that their order is that of the bytes. A value stood at revision R if and only if its own
 * revision <= R, and it is in `data` or its `history` key says supersededAt > R; so every key has at most one value at R.
 */
import { revisionOf, spliceRevision } from "../entry.ts";
import type { Draft, Entry, Revision, Write } from "../store.ts";

/** The version of this layout; a folder of another version isn't touched. */
export const FORMAT_VERSION = 1;

/** The greatest revision, for ranges that are open above. */
export const MAX_REVISION = revisionOf(Number.MAX_SAFE_INTEGER);

const RECORD_PREFIX_BYTES = 16;
const UINT32 = 0x1_0000_0000;

export function writeUint64(target: Buffer, value: number, offset: number): number {
  target.writeUInt32BE(Math.floor(value / UINT32), offset);
  return target.writeUInt32BE(value % UINT32, offset + 4);
}

export function readUint64(source: Buffer, offset: number): number {
  return source.readUInt32BE(offset) * UINT32 + source.readUInt32BE(offset + 4);
}

/** The bytes of a number as `counts` and `marks` keep it. */
export function encodeNumber(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  writeUint64(bytes, value, 0);
  return bytes;
}

/** The entry that a draft becomes, and its record; both share one allocation. */
export function encodeRecord(
  key: string,
  revision: Revision,
  draft: Draft,
): { entry: Entry; record: Buffer } {
  const { header, body, revisionAt } = draft;
  const digits = String(revision);
  const bodyAt = RECORD_PREFIX_BYTES + header.length;
  const record = Buffer.allocUnsafe(bodyAt + body.length + digits.length);
  writeUint64(record, revision, 0);
  record.writeUInt32BE(revisionAt, 8);
  record.writeUInt32BE(header.length, 12);
  record.set(header, RECORD_PREFIX_BYTES);
  spliceRevision(record, bodyAt, body, revisionAt, digits);
  return { entry: decodeRecord(key, record), record };
}

/** The entry in the record that takes `length` bytes of `source` from `offset`; its header and body are views. */
export function decodeRecord(key: string, source: Buffer, offset = 0, length = source.length): Entry {
  const headerAt = source.byteOffset + offset + RECORD_PREFIX_BYTES;
  const headerLength = source.readUInt32BE(offset + 12);
  const bodyLength = length - RECORD_PREFIX_BYTES - headerLength;
  if (bodyLength < 0) throw new RangeError("a record is cut off");
  return {
    key,
    revision: revisionOf(readUint64(source, offset)),
    header: new Uint8Array(source.buffer, headerAt, headerLength),
    body: new Uint8Array(source.buffer, headerAt + headerLength, bodyLength),
    revisionAt: source.readUInt32BE(offset + 8),
  };
}

/** The record that an entry made by {@link decodeRecord} is a view of. */
export function recordOf(entry: Entry): Buffer {
  const { header, body } = entry;
  return Buffer.from(
    header.buffer as ArrayBuffer,
    header.byteOffset - RECORD_PREFIX_BYTES,
    RECORD_PREFIX_BYTES + header.length + body.length,
  );
}

export interface State {
  readonly revision: Revision;
  readonly floor: Revision;
}

export function encodeState({ revision, floor }: State): Buffer {
  const bytes = Buffer.allocUnsafe(17);
  bytes[0] = FORMAT_VERSION;
  writeUint64(bytes, floor, writeUint64(bytes, revision, 1));
  return bytes;
}

const KINDS = ["create", "update", "delete"] as const satisfies readonly Write["kind"][];

export interface LogRecord {
  readonly kind: Write["kind"];
  readonly key: string;
}

export function encodeLogRecord({ kind, key }: LogRecord): Buffer {
  const bytes = Buffer.allocUnsafe(1 + Buffer.byteLength(key));
  bytes[0] = KINDS.indexOf(kind);
  bytes.write(key, 1);
  return bytes;
}

export function decodeLogRecord(bytes: Buffer): LogRecord {
  const kind = KINDS[bytes[0] ?? -1];
  if (kind === undefined) throw new RangeError("a log entry is of no known kind");
  return { kind, key: bytes.toString("utf8", 1) };
}

/** The key of a history entry: whose value, and the revision that superseded it. */
export type HistoryKey = [key: string, supersededAt: Revision];
