import { firstFailed } from "../conditions.ts";
import { entryFromDraft, revisionOf } from "../entry.ts";
import { closedError, Feed, type PastSlice } from "../feed.ts";
import { assertKey, assertPrefix } from "../keys.ts";
import { compactionIntervalMs, defaultRetentionMs, type StoreOptions } from "../options.ts";
import { Periodic } from "../periodic.ts";
import { countKeys } from "../range-pages.ts";
import {
  type CommitResult,
  type Draft,
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
  type TransactionResult,
  type Write,
} from "../store.ts";
import { assertTransaction, defaultTransactionLimits } from "../transaction.ts";
import { steadyTime, TimeMarks } from "../time-marks.ts";
import type { Difference, MemoryImage } from "./memory-image.ts";
import { MemoryIndex } from "./memory-index.ts";

const pastSliceEvents = 1000;

/** A change of {@link MemoryStore.commitAll}: the new value of a key, or undefined to delete the key. */
export interface MemoryChange {
  readonly key: string;
  readonly draft: Draft | undefined;
}

/**
 * Creates an in-memory store, for tests and servers without persistent data.
 *
 * @param image the values and the revision at the start; by default the store is empty.
 */
export function createMemoryStore(options: StoreOptions, image?: MemoryImage): MemoryStore {
  return new MemoryStore(options, image);
}

/** A store in memory. */
export class MemoryStore implements Store {
  readonly keepsEntries = true;
  readonly transactionLimits = defaultTransactionLimits;
  private readonly index: MemoryIndex;
  private readonly marks = new TimeMarks();
  private readonly now: () => number;
  private readonly feed: Feed;
  private readonly compaction: Periodic;
  private closed = false;

  /** @internal Created by {@link createMemoryStore}. */
  constructor(options: StoreOptions, image: MemoryImage | undefined) {
    this.index = new MemoryIndex(image);
    this.now = steadyTime(options.clock);
    this.feed = new Feed(
      {
        knownFloor: () => this.index.floor,
        readPast: (prefix, after, upTo) => this.readPast(prefix, after, upTo),
        refresh: () => this.assertOpen(),
      },
      this.index.latest,
      0,
    );
    const retentionMs = options.retentionMs ?? defaultRetentionMs;
    this.compaction = new Periodic(options.clock, compactionIntervalMs(retentionMs), async () => {
      await this.compact(this.now() - retentionMs);
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
    return countKeys(this, prefix, revision);
  }

  async commit(write: Write): Promise<CommitResult> {
    this.assertOpen();
    assertKey(write.key);
    const refusal = this.refusalOf(write);
    if (refusal !== undefined) return refusal;
    const event = this.apply(changeBy(write));
    this.marks.add(this.now(), event.revision);
    this.feed.publish([event], event.revision);
    return { ok: true, revision: event.revision, entry: valueOf(event) };
  }

  async transact(writes: readonly Write[]): Promise<TransactionResult> {
    this.assertOpen();
    assertTransaction(writes, this.transactionLimits);
    for (const [failedWrite, write] of writes.entries()) {
      const refusal = this.refusalOf(write);
      if (refusal !== undefined) return { ...refusal, failedWrite };
    }
    const revision = this.nextRevision;
    const events = writes.map((write) => this.apply(changeBy(write), revision));
    this.marks.add(this.now(), revision);
    this.feed.publish(events, revision);
    return { ok: true, revision, entries: events.map(valueOf) };
  }

  /** Why a write fails in the current state; undefined if it doesn't. */
  private refusalOf(write: Write): Extract<CommitResult, { ok: false }> | undefined {
    const current = this.index.current(write.key);
    const expected = write.kind === "create" ? undefined : write.expected;
    if (current?.revision !== expected) return { ok: false, current };
    const failedCondition = firstFailed(write.conditions, (key) => this.index.current(key)?.revision);
    return failedCondition === undefined ? undefined : { ok: false, current, failedCondition };
  }

  /** Returns the current values as an image, which doesn't change with the store. */
  image(): MemoryImage {
    this.assertOpen();
    return this.index.image();
  }

  /** Returns the keys whose current values differ from those of an image, in key order. */
  differences(image: MemoryImage): Difference[] {
    this.assertOpen();
    return this.index.differences(image);
  }

  /**
   * Writes several keys without conditions. Each write takes a revision, in order; no other write comes in between.
   * Subscriptions receive the events in one batch.
   *
   * @throws {TypeError} for an invalid key (a bug of the caller); nothing is written.
   */
  commitAll(changes: readonly MemoryChange[]): void {
    this.assertOpen();
    for (const { key } of changes) assertKey(key);
    const events = changes.map((change) => this.apply(change));
    if (events.length === 0) return;
    this.marks.add(this.now(), this.index.latest);
    this.feed.publish(events, this.index.latest);
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

  private get nextRevision(): Revision {
    return revisionOf(this.index.latest + 1);
  }

  private apply({ key, draft }: MemoryChange, revision = this.nextRevision): StoreEvent {
    const entry = draft === undefined ? undefined : entryFromDraft(key, revision, draft);
    const event: StoreEvent = { key, revision, entry, previous: this.index.current(key) };
    this.index.apply(event);
    return event;
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
    const events = this.index.eventsAfter(after, upTo, pastSliceEvents);
    const matching = events.filter((event) => event.key.startsWith(prefix));
    return { events: matching, upTo: events.at(-1)?.revision ?? upTo };
  }

  private assertOpen(): void {
    if (this.closed) throw closedError();
  }
}

function changeBy(write: Write): MemoryChange {
  return { key: write.key, draft: write.kind === "delete" ? undefined : write.draft };
}

/** The entry of a successful write: the new value, or the deleted one. */
function valueOf({ entry, previous }: StoreEvent): Entry {
  return (entry ?? previous)!;
}
