import { compareKeys, isTooLong, maxKeyBytes, prefixDepth, prefixEnd } from "../keys.ts";
import { revisionOf } from "../entry.ts";
import type { PastSlice } from "../feed.ts";
import {
  type Entry,
  type RangeOptions,
  type RangePage,
  type Revision,
  RevisionCompactedError,
  RevisionTooNewError,
  type StoreEvent,
} from "../store.ts";
import type { RawEntry } from "./codecs.ts";
import type { Environment } from "./databases.ts";
import { type HistoryKey, maxRevision, readUint64, type State } from "./layout.ts";
import { type Change, Past } from "./past.ts";
import { numberIn, stateIn } from "./stored-state.ts";

const sliceEvents = 500;
const sliceBytes = 1024 * 1024;

/**
 * Reads of one environment. Each method uses a new snapshot of the committed data of all processes, and releases it when it returns;
 * except in {@link Reader.together}.
 */
export class Reader {
  private readonly past: Past;
  /** Whether the current reads share a snapshot, and whether it exists already. */
  private snapshot: "none" | "requested" | "open" = "none";

  constructor(private readonly environment: Environment) {
    this.past = new Past(environment);
  }

  /** Runs work whose reads share one snapshot, created by the first read. */
  together(work: () => void): void {
    this.snapshot = "requested";
    try {
      work();
    } finally {
      this.snapshot = "none";
    }
  }

  /** Returns the newest committed state. */
  state(): State {
    this.renew();
    return stateIn(this.environment.meta.getBinaryFast("state"));
  }

  get(key: string): Entry | undefined {
    if (key === "" || isTooLong(key)) return undefined;
    this.renew();
    return this.present(key);
  }

  private renew(): void {
    if (this.snapshot === "open") return;
    this.environment.meta.resetReadTxn();
    if (this.snapshot === "requested") this.snapshot = "open";
  }

  /** @throws as `Store.get`. */
  getAt(key: string, at: Revision): Entry | undefined {
    assertReadable(this.state(), at);
    return key === "" || isTooLong(key) ? undefined : this.past.valueAt(key, at);
  }

  /** @throws as `Store.range`. */
  range({ prefix, at, after, limit = Infinity, maxBytes = Infinity }: RangeOptions): RangePage {
    const state = this.state();
    if (at !== undefined) assertReadable(state, at);
    const revision = at ?? state.revision;
    const page = new Page(limit, maxBytes);
    if (isTooLong(prefix)) return { revision, entries: [], more: false };
    if (after !== undefined && isTooLong(after)) {
      // LMDB doesn't accept longer keys. A shortened one gives the same range.
      return this.range({ prefix, at, after: shortened(after), limit, maxBytes });
    }
    const { records } = this.environment;
    records.shared = true;
    try {
      if (revision === state.revision) this.readLatest(page, prefix, after);
      else {
        records.newest = revision;
        this.readPast(page, prefix, after, revision);
      }
    } finally {
      records.shared = false;
      records.newest = maxRevision;
    }
    return { revision, entries: page.entries, more: page.more };
  }

  /** Returns the number of keys under a prefix at the latest revision, and this revision. */
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
   * Returns by how much the number of keys under the prefix changed after revision `after` up to `upTo`, or up to the end of one
   * slice.
   *
   * @throws {RevisionCompactedError} if the log no longer has these revisions.
   */
  growth(prefix: string, after: Revision, upTo: Revision): { growth: number; upTo: Revision } {
    const { floor } = this.state();
    if (after < floor) throw new RevisionCompactedError(after, floor);
    const end = revisionOf(Math.min(upTo, after + sliceEvents * 4));
    let growth = 0;
    for (let at = after + 1; at <= end; at++) {
      for (const { kind, key } of this.past.changesAt(revisionOf(at)))
        if (kind !== "update" && key.startsWith(prefix)) growth += kind === "create" ? 1 : -1;
    }
    return { growth, upTo: end };
  }

  /** Returns one slice of the events of the log above `after`, up to `upTo`. */
  events(prefix: string, after: Revision, upTo: Revision): PastSlice {
    const { floor, revision } = this.state();
    if (after < floor) throw new RevisionCompactedError(after, floor);
    const end = revisionOf(Math.min(upTo, revision, after + sliceEvents * 4));
    const { changes, reached } = this.changes(prefix, after, end);
    const later = laterOfSameKey(changes);
    const events: StoreEvent[] = [];
    let bytes = 0;
    for (const [i, { kind, key, revision: at, previous }] of changes.entries()) {
      // The value of a change is the superseded value of the key's next change, so it is read only once.
      const next = later[i];
      const entry = kind === "delete" ? undefined : next ? next.previous : this.past.valueAt(key, at);
      if (entry === undefined && kind !== "delete")
        throw new RangeError(`the log has a write of ${key} at ${at}, which has no value`);
      events.push({ key, revision: at, entry, previous });
      bytes += (entry?.body.length ?? 0) + (previous?.body.length ?? 0);
      // A slice has whole revisions.
      if (bytes >= sliceBytes && changes[i + 1]?.revision !== at) return { events, upTo: at };
    }
    return { events, upTo: reached };
  }

  /** Returns one slice of the changes under a prefix above `after` up to `end`. */
  private changes(prefix: string, after: Revision, end: Revision): { changes: Change[]; reached: Revision } {
    const changes: Change[] = [];
    let reached = after;
    let bytes = 0;
    while (reached < end && changes.length < sliceEvents && bytes < sliceBytes) {
      reached = revisionOf(reached + 1);
      const before = changes.length;
      this.past.addChanges(reached, prefix, changes);
      for (let at = before; at < changes.length; at++) bytes += changes[at]!.previous?.body.length ?? 0;
    }
    return { changes, reached };
  }

  /** Returns the current value in the current snapshot or write transaction. */
  present(key: string): Entry | undefined {
    return this.past.present(key);
  }

  /** Reads a range at the latest revision. This is the hottest loop of the store. */
  private readLatest(page: Page, prefix: string, after: string | undefined): void {
    const { data, records } = this.environment;
    for (const { key, value } of data.getRange(dataRange(prefix, after))) {
      if (!page.add(records.name(key, value as RawEntry))) return;
    }
  }

  /** Reads a range at an older revision: values that are still current, and superseded values from the log. */
  private readPast(page: Page, prefix: string, after: string | undefined, at: Revision): void {
    const changes = this.indexedChanges(prefix, after, at);
    for (const item of merge(this.currentValues(prefix, after, at), changes, at)) {
      const entry = "body" in item ? item : this.past.valueBefore(item.key, item.revision, at);
      if (entry !== undefined && !page.add(entry)) return;
    }
  }

  /** Yields current values up to revision `at`; for keys that changed later, the revision of a change. */
  private *currentValues(
    prefix: string,
    after: string | undefined,
    at: Revision,
  ): Generator<Entry | Changed, void> {
    const { data, records } = this.environment;
    for (const { key, value } of data.getRange(dataRange(prefix, after))) {
      const entry = records.name(key, value as RawEntry);
      yield entry.revision > at ? { key, revision: entry.revision } : entry;
    }
  }

  /**
   * Yields the index entries up to revision `at`, so that the reader needn't go beyond its page to find others, and for each key the first
   * one above it.
   */
  private *indexedChanges(prefix: string, after: string | undefined, at: Revision): Generator<Changed, void> {
    const skip = after !== undefined && compareKeys(after, prefix) >= 0;
    const start: HistoryKey = skip ? [after, maxRevision] : [prefix, revisionOf(0)];
    const end: HistoryKey = [prefixEnd(prefix), revisionOf(0)];
    let last: string | undefined;
    for (const [key, revision] of this.environment.history.getKeys({ start, end, exclusiveStart: skip })) {
      if (revision > at) {
        if (key === last) continue;
        last = key;
      }
      yield { key, revision };
    }
  }
}

/** A key that changed, with the revision of one change. */
interface Changed {
  readonly key: string;
  readonly revision: Revision;
}

/** Maps each change to the next one of the same key, if there is one. */
function laterOfSameKey(changes: readonly Change[]): (Change | undefined)[] {
  const next = new Map<string, Change>();
  const later: (Change | undefined)[] = [];
  for (let i = changes.length - 1; i >= 0; i--) {
    const change = changes[i]!;
    later[i] = next.get(change.key);
    next.set(change.key, change);
  }
  return later;
}

/** Collects the entries of a page until it is full. */
class Page {
  readonly entries: Entry[] = [];
  more = false;
  private bytes = 0;

  constructor(
    private readonly limit: number,
    private readonly maxBytes: number,
  ) {}

  /** Adds an entry; returns false if the page is full. */
  add(entry: Entry): boolean {
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

/** Truncates a string that is too long for a key to at most {@link maxKeyBytes}, at a character boundary. */
function shortened(text: string): string {
  const bytes = Buffer.from(text);
  let end = maxKeyBytes;
  // Don't split a UTF-8 sequence.
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

/**
 * Merges two sequences in key order, without the index entries up to revision `at`. For a key in both, the index's revision is used,
 * because it is nearer to the requested one.
 */
function* merge(
  standing: Generator<Entry | Changed, void>,
  indexed: Generator<Changed, void>,
  at: Revision,
): Generator<Entry | Changed, void> {
  try {
    let a = standing.next();
    let b = indexed.next();
    while (!a.done || !b.done) {
      const order = a.done ? 1 : b.done ? -1 : compareKeys(a.value.key, b.value.key);
      if (!b.done && order >= 0 && b.value.revision <= at) {
        b = indexed.next();
        continue;
      }
      if (!a.done && order < 0) yield a.value;
      else if (!b.done) yield b.value;
      if (order <= 0) a = standing.next();
      if (order >= 0) b = indexed.next();
    }
  } finally {
    // Closes the cursors when the consumer stops early.
    standing.return();
    indexed.return();
  }
}

/** @throws {RevisionCompactedError | RevisionTooNewError} if the revision isn't in the history. */
export function assertReadable({ floor, revision }: State, at: Revision): void {
  if (at < floor) throw new RevisionCompactedError(at, floor);
  if (at > revision) throw new RevisionTooNewError(at, revision);
}
