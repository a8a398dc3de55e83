import type { Clock } from "../../base/time/clock.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { nextTurn } from "../../base/turns/yielding.ts";
import { revisionOf } from "../entry.ts";
import { closedError } from "../feed.ts";
import { assertKey } from "../keys.ts";
import { compactionIntervalMs } from "../options.ts";
import { PendingOperations } from "../pending-operations.ts";
import { Periodic } from "../periodic.ts";
import { countKeys, deleteKeys } from "../range-pages.ts";
import type { StoreHistory } from "../store-history.ts";
import { StoreView } from "../store-view.ts";
import {
  RevisionCompactedError,
  type CommitResult,
  type Entry,
  type Listener,
  type RangeOptions,
  type RangePage,
  type Revision,
  type Store,
  type SubscribeOptions,
  type Subscription,
  type TransactionLimits,
  type TransactionResult,
  type Write,
} from "../store.ts";
import { steadyTime } from "../time-marks.ts";
import { assertTransaction, singleResult } from "../transaction.ts";
import { archiveStart, collectionOf, isArchiveKey } from "./archive-keys.ts";
import { Archive, withoutRecords } from "./archive.ts";
import { KeptSubscription } from "./kept-subscription.ts";
import { OriginCodec } from "./origin-codec.ts";
import { Pins, pinsPrefix } from "./pins.ts";
import { Recorder } from "./recorder.ts";
import { HistorySettings, othersRule, type HistoryOptions } from "./settings.ts";
import { Sweep } from "./sweep.ts";
import { TimeLine } from "./time-line.ts";

export type { HistoryOptions } from "./settings.ts";

/** Number of writes for which a transaction may have as many bytes as the store accepts. */
const fewWrites = 2;
/** Number of marks of times that one step deletes. */
const deletedMarks = 50;

/**
 * Opens a store that keeps the history of chosen collections. All stores over the same data must keep the same collections: a write without
 * a record leaves a gap, and reads in it are refused.
 *
 * @param inner the store that has the values and the records; it is closed with the result.
 * @throws as {@link Store.commit}.
 */
export async function keepHistory(inner: Store, options: HistoryOptions): Promise<Store> {
  const settings = await HistorySettings.enter(inner, options);
  const origins = new OriginCodec(inner, options.failed);
  await origins.load();
  const pins = options.pins === true ? new Pins(inner) : undefined;
  await pins?.load();
  if (options.drops) await pins?.complete();
  return new HistoryStore(inner, options, { settings, origins, pins });
}

/**
 * Opens a store as {@link keepHistory} with the rules under which its history is kept, so that maintenance commands leave no gap; drops
 * nothing. A store without kept history is returned as it is.
 */
export async function keepStoredHistory(inner: Store, clock: Clock): Promise<Store> {
  const rules = await HistorySettings.storedRules(inner);
  if (rules === undefined) return inner;
  const named = rules.filter((rule) => rule !== othersRule);
  const groupOf = (collection: string) => collection.slice(1, collection.indexOf("/", 1));
  const groups = new Set(["core", ...named.map(groupOf)]);
  const forever = { ms: Infinity };
  return keepHistory(inner, {
    clock,
    collections: new Map(named.map((rule) => [rule, forever])),
    // Rules name each built-in collection, so others are in other groups.
    ...(named.length < rules.length && {
      others: { ...forever, isIncluded: (collection: string) => !groups.has(groupOf(collection)) },
    }),
    pins: true,
    drops: false,
    failed(error) {
      throw error;
    },
  });
}

/**
 * Ends the keeping of history in a store whose history was kept, and removes what was kept. Does nothing in other stores.
 *
 * @returns whether there was some.
 */
export async function endHistory(store: Store): Promise<boolean> {
  const { entries } = await store.range({ prefix: "/", after: archiveStart, limit: 1 });
  if (entries[0] === undefined || !isArchiveKey(entries[0].key)) return false;
  // First, so that no history without some of its records is read after a crash.
  await HistorySettings.remove(store);
  await deleteKeys(store, archiveStart);
  return true;
}

/** Whether a store has pinned revisions, whose values only {@link keepHistory} with pins keeps. */
export async function hasPins(store: Store): Promise<boolean> {
  const { entries } = await store.range({ prefix: pinsPrefix, limit: 1 });
  return entries.length > 0;
}

/** What a {@link HistoryStore} is opened with. */
interface HistoryParts {
  readonly settings: HistorySettings;
  readonly origins: OriginCodec;
  readonly pins: Pins | undefined;
}

class HistoryStore extends StoreView {
  private readonly settings: HistorySettings;
  private readonly origins: OriginCodec;
  private readonly ownPins: Pins | undefined;
  private readonly ownHistory: StoreHistory;
  private readonly archive: Archive;
  private readonly recorder: Recorder;
  private readonly times: TimeLine;
  private readonly sweep: Sweep;
  private readonly sweeping: Periodic | undefined;
  private readonly now: () => number;
  private readonly pending = new PendingOperations();
  /** When the next round over the records begins. */
  private nextSweepMs = 0;
  private closing: Promise<void> | undefined;

  constructor(inner: Store, options: HistoryOptions, parts: HistoryParts) {
    super(inner);
    const { settings, origins, pins } = parts;
    this.settings = settings;
    this.origins = origins;
    this.ownPins = pins;
    this.now = steadyTime(options.clock);
    this.archive = new Archive(inner, origins);
    this.times = new TimeLine(inner, this.now);
    this.recorder = new Recorder(inner, this.archive, origins, this.times, pins, (key) => this.keeps(key));
    this.sweep = new Sweep(inner, {
      retentionOf: (collection) => settings.retentionOf(collection),
      floor: (collection) => this.keptFloor(collection),
      pins,
      raise: (collection, floor) => settings.raise(collection, floor),
    });
    this.ownHistory = this.createHistory();
    if (options.drops)
      this.sweeping = new Periodic(
        options.clock,
        compactionIntervalMs(settings.shortestMs),
        () => this.drop(),
        options.failed,
      );
  }

  override get history(): StoreHistory | undefined {
    return this.settings.isEmpty ? undefined : this.ownHistory;
  }

  override get pins(): Pins | undefined {
    return this.ownPins;
  }

  get keepsEntries(): boolean {
    return this.inner.keepsEntries === true;
  }

  override get transactionLimits(): TransactionLimits {
    const { writes, bytes } = this.inner.transactionLimits;
    return { writes: Math.floor((writes - 1) / 2), bytes: Math.floor(bytes / 2) };
  }

  get(key: string, at?: Revision): MaybePromise<Entry | undefined> {
    if (at === undefined) return this.inner.get(key);
    return this.orFromArchive(
      key,
      at,
      () => this.inner.get(key, at),
      (isPinned) => this.archive.valueAt(key, at, isPinned),
    );
  }

  range(options: RangeOptions): MaybePromise<RangePage> {
    const { prefix, at } = options;
    const read = (): MaybePromise<RangePage> =>
      prefix === "/" ? andThen(this.inner.range(options), withoutRecords) : this.inner.range(options);
    if (at === undefined) return read();
    return this.orFromArchive(prefix, at, read, (isPinned) => this.archive.rangeAt(options, at, isPinned));
  }

  override count(prefix: string, at?: Revision): MaybePromise<number> {
    if (prefix === "/")
      return andThen(at ?? this.inner.latestRevision(), (revision) => countKeys(this, prefix, revision));
    if (at === undefined) return this.inner.count(prefix);
    return this.orFromArchive(
      prefix,
      at,
      () => this.inner.count(prefix, at),
      () => countKeys(this, prefix, at),
    );
  }

  /**
   * Returns the result of a read at a revision, or that of another one if the store no longer has it.
   *
   * @param fromArchive reads the history; receives whether the revision is pinned.
   */
  private orFromArchive<T>(
    prefix: string,
    at: Revision,
    read: () => MaybePromise<T>,
    fromArchive: (isPinned: boolean) => Promise<T>,
  ): MaybePromise<T> {
    const keeps = this.keeps(prefix);
    if (!keeps && this.pins === undefined) return read();
    return orIfCompacted(read, async (error) => {
      if ((await this.pins?.has(at)) === true) return fromArchive(true);
      if (!keeps) throw error;
      await this.assertKept(prefix, at);
      return fromArchive(false);
    });
  }

  async commit(write: Write): Promise<CommitResult> {
    if (!this.recorder.concerns(write)) return this.inner.commit(write);
    assertKey(write.key);
    return singleResult(await this.record([write]));
  }

  async transact(writes: readonly Write[]): Promise<TransactionResult> {
    // Records of few writes leave out what doesn't fit, so values of any size can be written.
    if (writes.length > fewWrites) assertTransaction(writes, this.transactionLimits);
    else assertTransaction(writes, { ...this.transactionLimits, bytes: Infinity });
    const isConcerned = writes.some((write) => this.recorder.concerns(write));
    return isConcerned ? this.record(writes) : this.inner.transact(writes);
  }

  private async record(writes: readonly Write[]): Promise<TransactionResult> {
    if (this.closing !== undefined) throw closedError();
    return this.pending.add(this.recorder.transact(writes));
  }

  override subscribe(options: SubscribeOptions, listener: Listener): Subscription {
    const { prefix } = options;
    if (prefix === "/") return this.inner.subscribe(options, visibleTo(listener));
    if (!this.keeps(prefix)) return this.inner.subscribe(options, listener);
    const past = {
      floor: () => this.floorOf(prefix),
      changes: () => this.archive.recordedChanges(prefix),
      event: (change: Parameters<Archive["eventOf"]>[0]) => this.archive.eventOf(change),
    };
    return new KeptSubscription(this.inner, past, options, listener);
  }

  override close(): Promise<void> {
    return (this.closing ??= this.release());
  }

  private async release(): Promise<void> {
    await this.pending.settled();
    await this.sweeping?.stop();
    await this.origins.settled();
    await this.inner.close();
  }

  private keeps(prefix: string): boolean {
    const collection = collectionOf(prefix);
    return collection !== undefined && this.settings.retentionOf(collection) !== undefined;
  }

  /** @throws {RevisionCompactedError} a revision is below the floor. */
  private async assertKept(prefix: string, at: Revision): Promise<void> {
    const floor = await this.floorOf(prefix);
    if (at < floor) throw new RevisionCompactedError(at, floor);
  }

  /** The oldest revision at which the collection of a prefix can be read. */
  private async floorOf(prefix: string): Promise<Revision> {
    const [own, floor] = await Promise.all([this.inner.floor(), this.keptFloor(collectionOf(prefix)!)]);
    return revisionOf(Math.min(own, floor));
  }

  /** The floor of what is kept, which may be above that of the store. */
  private async keptFloor(collection: string): Promise<Revision> {
    const { ms } = this.settings.retentionOf(collection)!;
    const byTime = await this.times.revisionAt(this.now() - ms);
    return revisionOf(Math.max(byTime, await this.settings.floorOf(collection)));
  }

  private async drop(): Promise<void> {
    await this.times.dropFuture(deletedMarks);
    while (await this.times.dropBefore(this.now() - this.settings.longestMs, deletedMarks)) await nextTurn();
    if (this.now() < this.nextSweepMs) return;
    if (await this.sweep.run()) this.nextSweepMs = this.now() + this.settings.sweepPauseMs;
  }

  private createHistory(): StoreHistory {
    const floor = (prefix: string) => this.floorOf(prefix);
    return {
      keeps: (prefix) => this.keeps(prefix),
      floor,
      versions: async (key, options) => this.archive.versions(key, options, await floor(key)),
      deletions: async (prefix, options) => this.archive.deletions(prefix, options, await floor(prefix)),
      changes: async (prefix, options) => this.archive.changes(prefix, options, await floor(prefix)),
      revisionAt: (time) => this.revisionAt(time),
      forget: (start, ending) => this.pending.add(this.forget(start, ending)),
    };
  }

  private async forget(start: string, ending: AbortSignal | undefined): Promise<void> {
    await this.sweep.forget(start, ending);
    await this.settings.forget(start, ending);
  }

  private async revisionAt(time: number): Promise<Revision> {
    if (time < this.now() && !(await this.times.reachesBackTo(time)))
      throw new RevisionCompactedError(revisionOf(0), this.settings.oldestSince);
    return this.times.revisionAt(time);
  }
}

/** Returns the result of a read, or that of another one if the store no longer has the revision. */
function orIfCompacted<T>(
  read: () => MaybePromise<T>,
  otherwise: (error: RevisionCompactedError) => Promise<T>,
): MaybePromise<T> {
  const rescue = (error: unknown): Promise<T> => {
    if (error instanceof RevisionCompactedError) return otherwise(error);
    throw error;
  };
  try {
    const result = read();
    return result instanceof Promise ? result.catch(rescue) : result;
  } catch (error) {
    return rescue(error);
  }
}

/** Returns a listener that passes the events of all keys on, without those of the history. */
function visibleTo(listener: Listener): Listener {
  return {
    events: (batch, upTo) =>
      listener.events(
        batch.filter(({ key }) => !isArchiveKey(key)),
        upTo,
      ),
    ended: (error) => listener.ended(error),
    ...(listener.drained && { drained: () => listener.drained!() }),
  };
}
