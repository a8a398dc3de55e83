import { firstFailed } from "../conditions.ts";
import { entryFromDraft, firstRevision, revisionOf } from "../entry.ts";
import { closedError, Feed, type PastSlice } from "../feed.ts";
import { assertKey, assertPrefix } from "../keys.ts";
import { compactionIntervalMs, defaultRetentionMs, type StoreOptions } from "../options.ts";
import { Periodic } from "../periodic.ts";
import {
  type CommitResult,
  type Entry,
  type Listener,
  type RangeOptions,
  type RangePage,
  type Revision,
  RevisionCompactedError,
  RevisionTooNewError,
  type Store,
  type StoreEvent,
  type SubscribeOptions,
  type Subscription,
  type Write,
} from "../store.ts";
import { TimeMarks } from "../time-marks.ts";
import { MemoryIndex } from "./memory-index.ts";

const pastSliceEvents = 1000;
const countSliceKeys = 5000;

/** Creates an empty in-memory store, for tests and servers without persistent data. */
export function createMemoryStore(options: StoreOptions): Store {
  return new MemoryStore(options);
}

class MemoryStore implements Store {
  private readonly index = new MemoryIndex();
  private readonly marks = new TimeMarks();
  private readonly feed: Feed;
  private readonly compaction: Periodic;
  private closed = false;

  constructor(private readonly options: StoreOptions) {
    this.feed = new Feed(
      {
        knownFloor: () => this.index.floor,
        readPast: (prefix, after, upTo) => this.readPast(prefix, after, upTo),
        refresh: () => this.assertOpen(),
      },
      firstRevision,
      0,
    );
    const retentionMs = options.retentionMs ?? defaultRetentionMs;
    this.compaction = new Periodic(options.clock, compactionIntervalMs(retentionMs), async () => {
      await this.compact(options.clock.now() - retentionMs);
    });
  }

  latestRevision(): Revision {
    this.assertOpen();
    return this.index.latest;
  }

  floor(): Revision {
    this.assertOpen();
    return this.index.floor;
  }

  get(key: string, at?: Revision): Entry | undefined {
    return at === undefined ? this.current(key) : this.index.at(key, this.readable(at));
  }

  range({ prefix, at, after, limit, maxBytes = Infinity }: RangeOptions): RangePage {
    assertPrefix(prefix);
    const revision = this.readable(at ?? this.index.latest);
    const entries: Entry[] = [];
    let bytes = 0;
    for (const entry of this.index.entries(prefix, after, revision)) {
      if (entries.length === limit || (entries.length > 0 && bytes >= maxBytes)) {
        return { revision, entries, more: true };
      }
      entries.push(entry);
      bytes += entry.body.length;
    }
    return { revision, entries, more: false };
  }

  async count(prefix: string, at?: Revision): Promise<number> {
    assertPrefix(prefix);
    const revision = this.readable(at ?? this.index.latest);
    if (revision === this.index.latest) return this.index.count(prefix);
    let total = 0;
    let after: string | undefined;
    for (;;) {
      const page = this.range({ prefix, at: revision, after, limit: countSliceKeys });
      total += page.entries.length;
      if (!page.more) return total;
      after = page.entries.at(-1)?.key;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async commit(write: Write): Promise<CommitResult> {
    this.assertOpen();
    assertKey(write.key);
    const previous = this.index.current(write.key);
    const expected = write.kind === "create" ? undefined : write.expected;
    if (previous?.revision !== expected) return { ok: false, current: previous };
    const failedCondition = firstFailed(write.conditions, (key) => this.index.current(key)?.revision);
    if (failedCondition !== undefined) return { ok: false, current: previous, failedCondition };
    const revision = revisionOf(this.index.latest + 1);
    const entry = write.kind === "delete" ? undefined : entryFromDraft(write.key, revision, write.draft);
    const event: StoreEvent = { key: write.key, revision, entry, previous };
    this.index.apply(event);
    this.marks.add(this.options.clock.now(), revision);
    this.feed.publish([event], revision);
    return { ok: true, revision, entry: (entry ?? previous)! };
  }

  subscribe(options: SubscribeOptions, listener: Listener): Subscription {
    return this.feed.subscribe(options, listener);
  }

  together(work: () => void): void {
    work();
  }

  async compact(before: number): Promise<Revision> {
    this.assertOpen();
    const floor = this.marks.newestBefore(before);
    if (floor > this.index.floor) this.index.compact(floor);
    return this.index.floor;
  }

  async check(): Promise<readonly string[]> {
    this.assertOpen();
    return this.index.check();
  }

  writeObstacle(): undefined {
    return undefined;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.feed.end(closedError());
    await this.compaction.stop();
  }

  private current(key: string): Entry | undefined {
    this.assertOpen();
    return this.index.current(key);
  }

  private readable(at: Revision): Revision {
    this.assertOpen();
    if (at < this.index.floor) throw new RevisionCompactedError(at, this.index.floor);
    if (at > this.index.latest) throw new RevisionTooNewError(at, this.index.latest);
    return at;
  }

  private readPast(prefix: string, after: Revision, upTo: Revision): PastSlice {
    if (after < this.index.floor) throw new RevisionCompactedError(after, this.index.floor);
    const events = this.index.eventsAfter(after, Math.min(pastSliceEvents, upTo - after));
    const matching = events.filter((event) => event.key.startsWith(prefix));
    return { events: matching, upTo: events.at(-1)?.revision ?? upTo };
  }

  private assertOpen(): void {
    if (this.closed) throw closedError();
  }
}
