import { join } from "node:path";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { resultIfFirst } from "../discard.ts";
import { closedError, Feed } from "../feed.ts";
import { assertKey, assertPrefix } from "../keys.ts";
import { compactionIntervalMs, defaultRetentionMs, type StoreOptions } from "../options.ts";
import { Periodic } from "../periodic.ts";
import { steadyTime } from "../time-marks.ts";
import {
  type CommitResult,
  type DiscardResult,
  type Entry,
  type Listener,
  type RangeOptions,
  type RangePage,
  type Revision,
  type Store,
  StoreError,
  type StoreUsage,
  type SubscribeOptions,
  type Subscription,
  type TransactionResult,
  type Write,
} from "../store.ts";
import { assertTransaction, defaultTransactionLimits } from "../transaction.ts";
import { ChangeWatch } from "./change-watch.ts";
import { checkEnvironment } from "./check.ts";
import { CommitterClient } from "./committer/client.ts";
import { Compactor } from "./compactor.ts";
import type { Environment } from "./databases.ts";
import { dataFile } from "./files.ts";
import { acquireEnvironment, defaultMapBytes, isShared, releaseEnvironment } from "./environment.ts";
import { DiskSpaceGuard } from "./disk-space-guard.ts";
import { damagedError, transactionError, writeError } from "./errors.ts";
import type { Progress } from "./progress.ts";
import { assertReadable, Reader } from "./reader.ts";
import { recordRetention } from "./retention.ts";
import { sizesOf } from "./disk-space.ts";
import { deferralObstacle, syncWithin } from "./syncs/sync-point.ts";
import { SyncTimer } from "./syncs/sync-timer.ts";
import type { WaitingWrite } from "./waiting-writes.ts";
import { type Batch, Writer } from "./writer.ts";

/** Options of an embedded store. */
export interface LmdbStoreOptions extends StoreOptions {
  /** Data folder; created if it doesn't exist. Other processes may have it open. */
  readonly dir: string;
  /** Maximum size of the store in bytes; default 256 GiB. It reserves address space, not disk. */
  readonly mapSize?: number | undefined;
  /** Maximum memory for recent events in bytes; default 16 MiB. */
  readonly recentEventsBytes?: number | undefined;
  /** Maximum time that a write waits for other processes, in milliseconds; default 10 s. */
  readonly writeTimeoutMs?: number | undefined;
  /**
   * Path of the socket of a process that commits the writes of this store object ({@link serveCommits}). Reads use the folder directly;
   * compaction by age is left to that process.
   */
  readonly committer?: string | undefined;
}

const defaultWriteTimeoutMs = 10_000;
const defaultRecentEventsBytes = 16 * 1024 * 1024;

/** A store in a folder. */
export interface LmdbStore extends Store {
  /** The folder, as an absolute path without links. */
  readonly dir: string;
  usage(): StoreUsage;
  /** As {@link Store.check}, with reports of the progress. */
  check(progress?: Progress): Promise<readonly string[]>;
}

/**
 * Opens the embedded store.
 *
 * @throws {StoreDamagedError} the folder can't be used; the message names it and the remedy.
 * @throws {StoreStampError} the store is used for something else.
 */
export function openLmdbStore(options: LmdbStoreOptions): LmdbStore {
  const { dir, mapSize = defaultMapBytes, stamp, deferredSyncMs } = options;
  if (deferredSyncMs !== undefined && deferredSyncMs.size > 0) {
    const obstacle = deferralObstacle();
    if (obstacle !== undefined) throw new StoreError(obstacle);
  }
  return new EmbeddedStore(options, acquireEnvironment(dir, mapSize, stamp, options.clock));
}

class EmbeddedStore implements LmdbStore {
  readonly transactionLimits = defaultTransactionLimits;
  private readonly reader: Reader;
  private readonly writer: Writer;
  private readonly compactor: Compactor;
  private readonly diskSpace: DiskSpaceGuard;
  private readonly syncTimer: SyncTimer;
  private readonly feed: Feed;
  private readonly now: () => number;
  /** Undefined if this store object keeps all history. */
  private readonly compaction: Periodic | undefined;
  /** Undefined if this store object commits its writes itself. */
  private readonly committer: CommitterClient | undefined;
  private readonly checks = new Set<Promise<unknown>>();
  private watch: ChangeWatch | undefined;
  private closing: Promise<void> | undefined;
  /** Whether a change of the file was reported while a batch of this store was running. */
  private missedChange = false;

  constructor(
    private readonly options: LmdbStoreOptions,
    private readonly environment: Environment,
  ) {
    this.reader = new Reader(environment);
    this.now = steadyTime(options.clock);
    this.compactor = new Compactor(environment);
    const { mapSize = defaultMapBytes, writeTimeoutMs = defaultWriteTimeoutMs } = options;
    const limits = { storeBytes: mapSize, writeTimeoutMs };
    this.diskSpace = new DiskSpaceGuard(environment);
    const events = {
      committed: (batch: Batch) => this.orEndSubscriptions(() => this.publish(batch)),
      unsynced: (withinMs: number) => this.syncTimer.start(withinMs),
      idle: () => this.onIdle(),
      failed: (error: unknown) => options.failed?.(error),
    };
    this.writer = new Writer(environment, this.reader, this.now, limits, events, this.diskSpace);
    this.syncTimer = new SyncTimer(environment.syncs, options.clock, options.failed);
    this.feed = new Feed(
      {
        knownFloor: () => this.read(() => this.reader.state().floor),
        readPast: (prefix, after, upTo) => this.read(() => this.reader.events(prefix, after, upTo)),
        refresh: () => this.readNewest(),
      },
      this.reader.state().revision,
      options.recentEventsBytes ?? defaultRecentEventsBytes,
    );
    this.committer =
      options.committer === undefined
        ? undefined
        : new CommitterClient(options.committer, writeTimeoutMs, () => this.onChange());
    const retentionMs = options.retentionMs ?? defaultRetentionMs;
    if (retentionMs === Infinity || this.committer !== undefined) return;
    this.compaction = new Periodic(
      options.clock,
      compactionIntervalMs(retentionMs),
      () => this.compactByAge(retentionMs),
      options.failed,
    );
  }

  get dir(): string {
    return this.environment.dir;
  }

  latestRevision(): Revision {
    return this.read(() => this.reader.state().revision);
  }

  floor(): Revision {
    return this.read(() => this.reader.state().floor);
  }

  get(key: string, at?: Revision): Entry | undefined {
    return this.read(() => (at === undefined ? this.reader.get(key) : this.reader.getAt(key, at)));
  }

  range(options: RangeOptions): RangePage {
    assertPrefix(options.prefix);
    return this.read(() => this.reader.range(options));
  }

  async count(prefix: string, at?: Revision): Promise<number> {
    assertPrefix(prefix);
    if (at !== undefined) this.read(() => assertReadable(this.reader.state(), at));
    const { count, revision } = this.read(() => this.reader.count(prefix));
    if (at === undefined || at === revision) return count;
    let grown = 0;
    for (let after = at; ;) {
      const slice = this.read(() => this.reader.growth(prefix, after, revision));
      grown += slice.growth;
      after = slice.upTo;
      if (after >= revision) return count - grown;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async commit(write: Write): Promise<CommitResult> {
    this.assertOpen();
    assertKey(write.key);
    // It reports changes before the answers of its writes, so subscriptions receive the events before the write is acknowledged.
    if (this.committer !== undefined) return this.committer.commit(write);
    const syncWithinMs = syncWithin([write], this.options.deferredSyncMs);
    return (await this.execute(write, syncWithinMs)) as CommitResult;
  }

  async transact(writes: readonly Write[]): Promise<TransactionResult> {
    this.assertOpen();
    assertTransaction(writes, this.transactionLimits);
    if (this.committer !== undefined) return this.committer.transact(writes);
    const syncWithinMs = syncWithin(writes, this.options.deferredSyncMs);
    return (await this.execute({ kind: "transaction", writes }, syncWithinMs)) as TransactionResult;
  }

  private execute(
    write: WaitingWrite["write"],
    syncWithinMs?: number,
  ): Promise<CommitResult | TransactionResult> {
    return new Promise((resolve, reject) =>
      this.writer.commit({ write, since: performance.now(), syncWithinMs, resolve, reject }),
    );
  }

  async discard(key: string, dryRun: boolean): Promise<DiscardResult> {
    assertKey(key);
    const expected = resultIfFirst(() => this.get(key));
    if (expected !== "discarded" || dryRun) return expected;
    if (this.committer !== undefined) return this.committer.discard(key);
    const result = (await this.execute({ kind: "discard", key })) as CommitResult;
    if (result.ok) return "discarded";
    return result.current === undefined ? "absent" : "readable";
  }

  subscribe(options: SubscribeOptions, listener: Listener): Subscription {
    if (this.closing === undefined) {
      // Changes of other processes matter only to subscriptions. A committer reports them.
      if (this.committer === undefined)
        this.watch ??= new ChangeWatch(join(this.dir, dataFile), this.options.clock, () => this.onChange());
      this.readNewest();
    }
    return this.feed.subscribe(options, listener);
  }

  together(work: () => void): void {
    this.reader.together(work);
  }

  async compact(before: number): Promise<Revision> {
    this.assertOpen();
    try {
      return await this.compactor.compact(before);
    } catch (error) {
      throw writeError(this.dir, error);
    }
  }

  async check(progress?: Progress): Promise<readonly string[]> {
    this.assertOpen();
    const check = checkEnvironment(this.environment, progress);
    this.checks.add(check);
    try {
      return await check;
    } finally {
      this.checks.delete(check);
    }
  }

  writeObstacle(): MaybePromise<StoreError | undefined> {
    this.assertOpen();
    return this.committer === undefined ? this.writer.obstacle() : this.committer.obstacle();
  }

  usage(): StoreUsage {
    return this.read(() => {
      const since = this.environment.syncs.unsyncedSince(this.reader.state());
      const unsyncedMs = since === undefined || since === 0 ? since : Math.max(0, this.now() - since);
      return { ...sizesOf(this.environment), failedWrites: this.writer.failedWrites, unsyncedMs };
    });
  }

  close(): Promise<void> {
    return (this.closing ??= this.release());
  }

  private async release(): Promise<void> {
    const quiet = await this.writesEnded();
    this.committer?.close();
    this.watch?.stop();
    this.feed.end(closedError());
    // A transaction that waits for the write lock can't be cancelled, and the environment can't be closed before it ends.
    if (!quiet) throw this.writer.abandon();
    // A check has a snapshot, which must not outlive the environment.
    await Promise.allSettled(this.checks);
    await releaseEnvironment(this.environment);
  }

  /** Waits for pending writes, at most the write timeout. Returns whether all have ended. */
  private async writesEnded(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), this.options.writeTimeoutMs ?? defaultWriteTimeoutMs);
    });
    const ended = async () => {
      await this.committer?.settled();
      await this.writer.settled();
      await this.compaction?.stop();
      await this.compactor.settled();
      this.syncTimer.stop();
      await this.syncAll();
      return true;
    };
    try {
      return await Promise.race([ended(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Syncs everything; the last store object of the folder also ends the deferral of syncs. */
  private async syncAll(): Promise<void> {
    const { syncs } = this.environment;
    try {
      await (isShared(this.environment) ? syncs.sync() : syncs.close());
    } catch (error) {
      this.options.failed?.(error);
    }
  }

  /** Publishes a batch of this store. Earlier commits of other processes are read from the log. */
  private publish({ before, events, last, cutsHistory }: Batch): void {
    const { feed } = this;
    if (cutsHistory) return feed.skipTo(last);
    if (feed.position < before) this.readLog(before);
    const unheard =
      feed.position <= before ? events : events.filter(({ revision }) => revision > feed.position);
    feed.publish(unheard, last);
  }

  private onChange(): void {
    // A batch of this store publishes its own events, and reads earlier ones of other processes first.
    this.missedChange = this.writer.busy;
    if (this.closing !== undefined || this.writer.busy) return;
    this.orEndSubscriptions(() => this.readNewest());
  }

  /**
   * If the log can't be read, ends the current subscriptions, so that their users subscribe again. The writes that are being
   * acknowledged are not affected.
   */
  private orEndSubscriptions(read: () => void): void {
    try {
      read();
    } catch (error) {
      this.feed.endAll(error instanceof StoreError ? error : damagedError(this.dir, error));
    }
  }

  private onIdle(): void {
    if (this.missedChange) this.onChange();
  }

  /** Publishes all committed events of any process, even if the writer's promise isn't resolved yet. */
  private readNewest(): void {
    const state = this.read(() => this.reader.state());
    if (state.revision <= this.feed.position) return;
    const own = this.writer.unacknowledgedBatch(state);
    if (own === undefined) this.readLog(state.revision);
    else this.publish(own);
  }

  private readLog(upTo: Revision): void {
    const { feed } = this;
    while (feed.position < upTo) {
      const { floor } = this.reader.state();
      // A process falls behind the log only if it was stopped for the whole retention time.
      if (feed.position < floor) feed.skipTo(floor);
      else {
        const slice = this.reader.events("/", feed.position, upTo);
        if (slice.upTo <= feed.position) throw damagedError(this.dir, `the log ends at ${feed.position}`);
        feed.publish(slice.events, slice.upTo);
      }
    }
  }

  private async compactByAge(retentionMs: number): Promise<void> {
    // Compaction frees space, so it is tried on a full disk too, as deletes are.
    this.diskSpace.refusal();
    if (this.diskSpace.paused) return;
    try {
      await recordRetention(this.environment, retentionMs);
      await this.compactor.compact(this.now() - retentionMs);
    } catch (error) {
      const failure =
        error instanceof StoreError ? error : writeError(this.dir, await transactionError(error));
      this.diskSpace.failed(failure);
      throw failure;
    }
  }

  private read<T>(take: () => T): T {
    this.assertOpen();
    try {
      return take();
    } catch (error) {
      throw error instanceof StoreError ? error : damagedError(this.dir, error);
    }
  }

  private assertOpen(): void {
    if (this.closing !== undefined) throw closedError();
  }
}
