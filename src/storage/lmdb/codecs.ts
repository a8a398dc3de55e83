/**
 * What lmdb-js is given to turn keys and values into bytes and back, chosen for the least work per entry: keys are
 * written into the engine's own buffer, and values are copied once, out of the engine's buffer into a slab.
 */
import { type Entry, StoreValueError, type Write } from "../store.ts";
import { revisionOf } from "../entry.ts";
import { checksumOf, checksumOfText } from "./checksum.ts";
import {
  checksumAt,
  decodeRecord,
  type HistoryKey,
  maxRevision,
  readUint64,
  writeLogRecord,
  writeUint64,
} from "./layout.ts";

/** How lmdb-js writes and reads keys. */
export interface KeyCodec<K> {
  writeKey(key: K, target: Buffer, offset: number): number;
  readKey(source: Buffer, start: number, end: number): K;
}

/** What `toString` calls in the end; it takes half the time, and is there in every Node. */
function readText(source: Buffer, start: number, end: number): string {
  return (source as Buffer & { utf8Slice(start: number, end: number): string }).utf8Slice(start, end);
}

export const textKeys: KeyCodec<string> = {
  writeKey: (key, target, offset) => offset + target.write(key, offset),
  readKey: readText,
};

export const numberKeys: KeyCodec<number> = {
  writeKey: (key, target, offset) => writeUint64(target, key, offset),
  readKey: (source, start) => readUint64(source, start),
};

export const historyKeys: KeyCodec<HistoryKey> = {
  writeKey([key, supersededAt], target, offset) {
    const end = offset + target.write(key, offset);
    target[end] = 0;
    return writeUint64(target, supersededAt, end + 1);
  },
  readKey(source, start, end) {
    const key = readText(source, start, end - 9);
    return [key, revisionOf(readUint64(source, end - 8))];
  },
};

const slabBytes = 64 * 1024;
const ownAllocationBytes = 16 * 1024;
const viewsUpToBytes = 8 * 1024;

const nothing = new Uint8Array(0);

/** An entry whose key is still to be filled in, by {@link RecordCodec.name}. */
export type RawEntry = { -readonly [K in keyof Entry]: Entry[K] };

/**
 * The value codec of `data`, and what copies superseded values out of the log. It gives entries whose key is still empty:
 * LMDB doesn't say it. {@link name} fills it in and verifies the checksum; it comes before the next entry is read.
 *
 * Many small values share a slab of 64 KB; so that a single entry never keeps much alive, ranges and single reads use
 * different ones: {@link shared} says which.
 */
export class RecordCodec {
  /** Of values of a later revision only the revision is taken; header and body are empty. */
  newest: number = maxRevision;
  /** Whether the values to come live and die together. */
  shared = false;
  /** The checksum that the last record says it has, with its key; undefined where it says none. */
  private expected: number | undefined;
  /** The checksum of the last record, without its key. */
  private checksum = 0;
  /** Why the last record can't be read. */
  private fault: string | undefined;
  private slab = Buffer.alloc(0);
  private used = 0;
  private viewsOf: ArrayBufferLike | undefined;
  private views: Uint8Array[] = [];

  encode(record: Buffer): Buffer {
    return record;
  }

  decode(source: Buffer, size?: unknown): RawEntry {
    const length = typeof size === "number" ? size : source.length;
    return this.read(source, length, (end) => this.view(source, end));
  }

  /** The entry in the record that is all of `source` from `offset`. */
  copy(source: Buffer, offset: number): RawEntry {
    const record = source.subarray(offset);
    return this.read(record, record.length, (end) => record.subarray(0, end));
  }

  /**
   * Gives the entry that was read last its key.
   *
   * @throws {StoreValueError} its bytes aren't those which were written under this key.
   */
  name(key: string, entry: RawEntry): Entry {
    if (this.fault !== undefined) throw new StoreValueError(key, this.fault);
    if (this.expected !== undefined && checksumOfText(key, this.checksum) !== this.expected)
      throw new StoreValueError(key, "its checksum differs");
    entry.key = key;
    return entry;
  }

  /** @param upTo a view of the first bytes of the record. */
  private read(record: Buffer, length: number, upTo: (end: number) => Uint8Array): RawEntry {
    this.fault = undefined;
    try {
      const end = checksumAt(record, length);
      this.expected = end === undefined ? undefined : record.readUInt32BE(end);
      if (end !== undefined) this.checksum = checksumOf(upTo(end));
      if (this.newest !== maxRevision) {
        const revision = revisionOf(readUint64(record, 0));
        if (revision > this.newest)
          return { key: "", revision, header: nothing, body: nothing, revisionAt: 0 };
      }
      return this.keep(upTo(length));
    } catch (error) {
      // Which value it is that can't be read is known to the caller alone.
      if (!(error instanceof RangeError)) throw error;
      this.fault = error.message;
      return { key: "", revision: revisionOf(0), header: nothing, body: nothing, revisionAt: 0 };
    }
  }

  private keep(record: Uint8Array): RawEntry {
    const { length } = record;
    if (!this.shared || length > ownAllocationBytes) {
      const own = Buffer.allocUnsafe(length);
      own.set(record);
      return decodeRecord("", own, 0, length);
    }
    if (this.used + length > this.slab.length) {
      this.slab = Buffer.allocUnsafeSlow(slabBytes);
      this.used = 0;
    }
    const start = this.used;
    this.used += length;
    this.slab.set(record, start);
    return decodeRecord("", this.slab, start, length);
  }

  /** The first `length` bytes of the engine's buffer, which is the same one again and again: views are kept by length. */
  private view(source: Buffer, length: number): Uint8Array {
    if (length > viewsUpToBytes) return new Uint8Array(source.buffer, source.byteOffset, length);
    if (this.viewsOf !== source.buffer) {
      this.viewsOf = source.buffer;
      this.views = [];
    }
    const cached = this.views[length];
    if (cached !== undefined && cached.byteOffset === source.byteOffset) return cached;
    return (this.views[length] = new Uint8Array(source.buffer, source.byteOffset, length));
  }
}

const logBufferBytes = 64 * 1024;

/** Makes log entries, one after the other in the same buffer: the engine copies what it is given in a transaction. */
export class LogEncoder {
  private readonly buffer = Buffer.allocUnsafeSlow(logBufferBytes);

  /** The bytes are valid until the next call. */
  encode(kind: Write["kind"], key: string, superseded: Buffer | undefined): Buffer {
    const length = writeLogRecord(this.buffer, kind, key, superseded);
    if (length <= this.buffer.length) return this.buffer.subarray(0, length);
    const own = Buffer.allocUnsafeSlow(length);
    writeLogRecord(own, kind, key, superseded);
    return own;
  }
}
