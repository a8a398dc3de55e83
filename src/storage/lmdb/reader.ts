import { compareKeys, isTooLong, MAX_KEY_BYTES, prefixDepth, prefixEnd } from "../keys.ts";
import { revisionOf } from "../entry.ts";
import type { PastSlice } from "../feed.ts";
import {
  type Entry,
  type RangeOptions,
  type RangePage,
  type Revision,
  RevisionCompactedError,
  RevisionTooNewError,
  StoreDamagedError,
  type StoreEvent,
} from "../store.ts";
import type { RawEntry } from "./codecs.ts";
import type { Environment } from "./databases.ts";
import { decodeLogRecord, type HistoryKey, MAX_REVISION, readUint64, type State } from "./layout.ts";

const SLICE_EVENTS = 500;
const SLICE_BYTES = 1024 * 1024;

/**
 * Reads of one environment. Each method takes a snapshot of what is committed now, by whichever process, and is done
 * with it when it returns.
 */
export class Reader {
  constructor(private readonly environment: Environment) {}

  /** The newest committed state. */
  state(): State {
    const { meta } = this.environment;
    meta.resetReadTxn();
    return stateIn(meta.getBinaryFast("state"));
  }

  get(key: string): Entry | undefined {
    if (key === "" || isTooLong(key)) return undefined;
    this.environment.data.resetReadTxn();
    return this.present(key);
  }

  /** @throws as `Store.get`. */
  getAt(key: string, at: Revision): Entry | undefined {
    assertReadable(this.state(), at);
    return key === "" || isTooLong(key) ? undefined : this.valueAt(key, at);
  }

  /** @throws as `Store.range`. */
  range({ prefix, at, after, limit = Infinity, maxBytes = Infinity }: RangeOptions): RangePage {
    const state = this.state();
    if (at !== undefined) assertReadable(state, at);
    const revision = at ?? state.revision;
    const page = new Page(limit, maxBytes);
    if (isTooLong(prefix)) return { revision, entries: [], more: false };
    if (after !== undefined && isTooLong(after)) {
      // Every key lies on the same side of the shortened one; the engine doesn't take the whole.
      return this.range({ prefix, at, after: shortened(after), limit, maxBytes });
    }
    const { records } = this.environment;
    records.shared = true;
    try {
      if (revision === state.revision) this.takeStanding(page, prefix, after);
      else {
        records.newest = revision;
        this.takeMerged(page, prefix, after, revision);
      }
    } finally {
      records.shared = false;
      records.newest = MAX_REVISION;
    }
    return { revision, entries: page.entries, more: page.more };
  }

  /** How many keys are under the prefix at the latest revision, and which that is. */
  count(prefix: string): { count: number; revision: Revision } {
    const { revision } = this.state();
    const depth = prefixDepth(prefix);
    const { counts, data } = this.environment;
    if (isTooLong(prefix)) return { count: 0, revision };
    if (depth === 2 || depth === 3) return { count: numberIn(counts.getBinaryFast(prefix)), revision };
    if (depth > 3) return { count: data.getCount({ start: prefix, end: prefixEnd(prefix) }), revision };
    let count = 0;
    for (const { key, value } of counts.getRange({ start: prefix, end: prefixEnd(prefix) })) {
      if (prefixDepth(key) === 2) count += readUint64(value, 0);
    }
    return { count, revision };
  }

  /**
   * By how much the keys under the prefix became more through the log entries above `after` up to `upTo`, as far as
   * one slice goes.
   *
   * @throws {RevisionCompactedError} those entries are no longer kept.
   */
  growth(prefix: string, after: Revision, upTo: Revision): { growth: number; upTo: Revision } {
    const { floor } = this.state();
    if (after < floor) throw new RevisionCompactedError(after, floor);
    const end = revisionOf(Math.min(upTo, after + SLICE_EVENTS * 4));
    let growth = 0;
    for (const { value } of this.environment.log.getRange({ start: after + 1, end: end + 1 })) {
      const { kind, key } = decodeLogRecord(value);
      if (kind !== "update" && key.startsWith(prefix)) growth += kind === "create" ? 1 : -1;
    }
    return { growth, upTo: end };
  }

  /** Events of the log above `after`, at most up to `upTo`, as many as one slice holds. */
  events(prefix: string, after: Revision, upTo: Revision): PastSlice {
    const { floor, revision } = this.state();
    if (after < floor) throw new RevisionCompactedError(after, floor);
    const last = revisionOf(Math.min(upTo, revision));
    const found: StoreEvent[] = [];
    let reached = after;
    let bytes = 0;
    const end = Math.min(last, after + SLICE_EVENTS * 4);
    for (const { key: at, value } of this.environment.log.getRange({ start: after + 1, end: end + 1 })) {
      reached = revisionOf(at);
      const { kind, key } = decodeLogRecord(value);
      if (!key.startsWith(prefix)) continue;
      const event: StoreEvent = {
        key,
        revision: reached,
        entry: kind === "delete" ? undefined : this.valueAt(key, reached),
        previous: kind === "create" ? undefined : this.supersededAt(key, reached),
      };
      found.push(event);
      bytes += (event.entry?.body.length ?? 0) + (event.previous?.body.length ?? 0);
      if (found.length >= SLICE_EVENTS || bytes >= SLICE_BYTES) break;
    }
    return { events: found, upTo: reached };
  }

  /** The present value, in the present snapshot; inside a write transaction, in that. */
  present(key: string): Entry | undefined {
    const entry = this.environment.data.get(key) as RawEntry | undefined;
    if (entry !== undefined) entry.key = key;
    return entry;
  }

  private supersededAt(key: string, supersededAt: Revision): Entry | undefined {
    const entry = this.environment.history.get([key, supersededAt]) as RawEntry | undefined;
    if (entry !== undefined) entry.key = key;
    return entry;
  }

  private valueAt(key: string, at: Revision): Entry | undefined {
    const { history } = this.environment;
    const present = this.present(key);
    if (present !== undefined && present.revision <= at) return present;
    const start: HistoryKey = [key, revisionOf(at + 1)];
    const end: HistoryKey = [key, MAX_REVISION];
    for (const { value } of history.getRange({ start, end, limit: 1 })) {
      const entry = value as RawEntry;
      entry.key = key;
      return entry.revision <= at ? entry : undefined;
    }
    return undefined;
  }

  /** At the latest revision only present values count. This is the hottest loop of the store. */
  private takeStanding(page: Page, prefix: string, after: string | undefined): void {
    for (const { key, value } of this.environment.data.getRange(dataRange(prefix, after))) {
      const entry = value as RawEntry;
      entry.key = key;
      if (!page.take(entry)) return;
    }
  }

  /** At an older revision: the values that still stand, merged with those that were superseded since. */
  private takeMerged(page: Page, prefix: string, after: string | undefined, at: Revision): void {
    for (const entry of merge(this.standing(prefix, after), this.superseded(prefix, after, at))) {
      if (!page.take(entry)) return;
    }
  }

  private *standing(prefix: string, after: string | undefined): Generator<Entry, void> {
    for (const { key, value } of this.environment.data.getRange(dataRange(prefix, after))) {
      // The codec gives nothing for values that are newer than what is read.
      if (value === undefined) continue;
      const entry = value as RawEntry;
      entry.key = key;
      yield entry;
    }
  }

  private *superseded(prefix: string, after: string | undefined, at: Revision): Generator<Entry, void> {
    const { history } = this.environment;
    const skip = after !== undefined && compareKeys(after, prefix) >= 0;
    const start: HistoryKey = skip ? [after, MAX_REVISION] : [prefix, revisionOf(0)];
    const end: HistoryKey = [prefixEnd(prefix), revisionOf(0)];
    for (const { key, value } of history.getRange({ start, end, exclusiveStart: skip })) {
      const [owner, supersededAt] = key;
      if (value === undefined || supersededAt <= at) continue;
      const entry = value as RawEntry;
      if (entry.revision > at) continue;
      entry.key = owner;
      yield entry;
    }
  }
}

/** The entries of a page, until it is full. */
class Page {
  readonly entries: Entry[] = [];
  more = false;
  private bytes = 0;

  constructor(
    private readonly limit: number,
    private readonly maxBytes: number,
  ) {}

  /** Whether there was room for the entry. */
  take(entry: Entry): boolean {
    const { length } = this.entries;
    if (length >= this.limit || (length > 0 && this.bytes >= this.maxBytes)) {
      this.more = true;
      return false;
    }
    this.entries.push(entry);
    this.bytes += entry.body.length;
    return true;
  }
}

/** The start of a string that is too long for a key, cut so that it is none. */
function shortened(text: string): string {
  const bytes = Buffer.from(text);
  let end = MAX_KEY_BYTES;
  // Not within a character.
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}

function dataRange(
  prefix: string,
  after: string | undefined,
): { start: string; end: string; exclusiveStart: boolean } {
  const skip = after !== undefined && compareKeys(after, prefix) >= 0;
  return { start: skip ? after : prefix, end: prefixEnd(prefix), exclusiveStart: skip };
}

/** Two sequences in key order that share no key, as one. */
function* merge(left: Generator<Entry, void>, right: Generator<Entry, void>): Generator<Entry, void> {
  try {
    let a = left.next();
    let b = right.next();
    while (!a.done || !b.done) {
      if (!a.done && (b.done || compareKeys(a.value.key, b.value.key) < 0)) {
        yield a.value;
        a = left.next();
      } else if (!b.done) {
        yield b.value;
        b = right.next();
      }
    }
  } finally {
    // Ends the cursors when the reader has enough.
    left.return();
    right.return();
  }
}

/** Reads the state record; the bytes belong to the engine and are not kept. */
export function stateIn(bytes: Buffer | undefined): State {
  if (bytes === undefined) throw new StoreDamagedError("the store's state record is missing");
  return { revision: revisionOf(readUint64(bytes, 1)), floor: revisionOf(readUint64(bytes, 9)) };
}

/** A stored number; 0 when it isn't there. */
export function numberIn(bytes: Buffer | undefined): number {
  return bytes === undefined ? 0 : readUint64(bytes, 0);
}

/** @throws {RevisionCompactedError | RevisionTooNewError} the revision isn't within the history. */
export function assertReadable({ floor, revision }: State, at: Revision): void {
  if (at < floor) throw new RevisionCompactedError(at, floor);
  if (at > revision) throw new RevisionTooNewError(at, revision);
}
