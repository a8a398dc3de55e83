/**
 * Encoders and decoders of keys and values for lmdb-js, with little work per entry: keys are written into the buffer of lmdb-js,
 * and values are copied once, from its buffer into a slab.
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

/** The encoding of keys. */
export interface KeyCodec<K> {
  writeKey(key: K, target: Buffer, offset: number): number;
  readKey(source: Buffer, start: number, end: number): K;
}

/** The internal function behind `toString`; it takes half the time and exists in every version of Node. */
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

/** An entry without its key, which {@link RecordCodec.name} sets. */
export type RawEntry = { -readonly [K in keyof Entry]: Entry[K] };

/**
 * Decodes the values of `data` and the superseded values of the log. The decoder doesn't know the key, so the key of the entry
 * is empty: call {@link name}, which sets it and verifies the checksum, before the next entry is read.
 *
 * Small values share slabs of 64 KB. Ranges and single reads use different slabs ({@link shared}), so that one entry doesn't keep
 * much memory alive.
 */
export class RecordCodec {
  /** Values of later revisions are decoded without header and body. */
  newest: number = maxRevision;
  /** Whether the next values have the same lifetime. */
  shared = false;
  /** The checksum in the last record, which includes the key; undefined if the record has none. */
  private expected: number | undefined;
  /** The computed checksum of the last record without the key. */
  private checksum = 0;
  /** The error of the last record, if it can't be decoded. */
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

  /** Decodes the record that extends from `offset` to the end of `source`. */
  copy(source: Buffer, offset: number): RawEntry {
    const record = source.subarray(offset);
    return this.read(record, record.length, (end) => record.subarray(0, end));
  }

  /**
   * Sets the key of the entry that was decoded last.
   *
   * @throws {StoreValueError} if the checksum doesn't match the bytes and the key.
   */
  name(key: string, entry: RawEntry): Entry {
    if (this.fault !== undefined) throw new StoreValueError(key, this.fault);
    if (this.expected !== undefined && checksumOfText(key, this.checksum) !== this.expected)
      throw new StoreValueError(key, "its checksum differs");
    entry.key = key;
    return entry;
  }

  /** @param upTo returns a view of the record's first `end` bytes. */
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
      // Only the caller knows the key of the damaged value.
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

  /** Returns a view of the first `length` bytes of the buffer of lmdb-js. The buffer is reused, so views are cached by length. */
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

/** Encodes log entries in a reused buffer: lmdb-js copies the bytes within the transaction. */
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
