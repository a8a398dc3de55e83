import { randomInt } from "node:crypto";
import { revisionOf } from "../entry.ts";
import {
  type CommitResult,
  type Entry,
  type Revision,
  StoreError,
  type StoreEvent,
  type TransactionResult,
} from "../store.ts";
import { markTime } from "../time-marks.ts";
import type { Environment } from "./databases.ts";
import { DiskSpaceGuard } from "./disk-space-guard.ts";
import { fullError, transactionError, writeError } from "./errors.ts";
import { encodeNumber, encodeState, type State } from "./layout.ts";
import { attempt, growthOf, maxBytesOf, prepare, type PresentState, type Step } from "./prepared-writes.ts";
import { Puts } from "./puts.ts";
import { type Reader } from "./reader.ts";
import { numberIn, soundStateIn } from "./stored-state.ts";
import { remainingBytes } from "./disk-space.ts";
import { MustSync } from "./syncs/sync-point.ts";
import { type WaitingWrite, WaitingWrites } from "./waiting-writes.ts";

/** Maximum number of batches in progress: the next one is prepared while one syncs, so that the disk is never idle. */
const batchesUnderWay = 2;

/** The outcome of a batch, reported when it is committed. */
export interface Batch {
  /** Number of the batch in the state that it writes, which identifies it. */
  readonly number: number;
  /** The last revision before the batch. */
  readonly before: Revision;
  /** The last revision of the batch; equal to {@link before} if it wrote nothing. */
  readonly last: Revision;
  /** Whether the batch removed the history with values that can't be read; it has no events then. */
  readonly cutsHistory: boolean;
  readonly events: StoreEvent[];
  readonly outcomes: { readonly to: WaitingWrite; readonly result: CommitResult | TransactionResult }[];
  readonly failed: { readonly to: WaitingWrite; readonly error: unknown }[];
}

/** Limits of a writer. */
export interface WriterLimits {
  /** Maximum size of the store in bytes. */
  readonly storeBytes: number;
  /** Maximum time that a write waits for other processes, in milliseconds. */
  readonly writeTimeoutMs: number;
}

/** Callbacks of a writer. */
export interface WriterEvents {
  /** A batch with changes is committed, and synced unless its sync is deferred. Its writes are acknowledged after this call. */
  committed(batch: Batch): void;
  /** Commits must be synced within this time, in milliseconds. */
  unsynced(withinMs: number): void;
  /** No batch is in progress any more. */
  idle(): void;
  /** A listener threw an exception: a bug. The writes are acknowledged anyway. */
  failed(error: unknown): void;
}

/**
 * Commits writes in batches: those that arrive while a batch is written form the next one. Each batch is one
 * transaction with one sync on another thread. Expected revisions are checked and new ones assigned inside the transaction, so
 * writers of other processes are handled like those of this one.
 *
 * A batch in which every write may be synced later is a synchronous transaction without a sync ({@link DeferredSyncs}). It doesn't overlap
 * with others, for which it would block the event loop.
 */
export class Writer {
  private readonly puts: Puts;
  private underWay = 0;
  /** Number of writes that failed for lack of space or because of a failed commit. */
  failedWrites = 0;
  /** Batches that were written, and may be durable, but are not reported to this thread yet. */
  private readonly unacknowledged = new Set<Batch>();
  /** Number of the next batch; starts at a random value, so that the writers of a folder use different numbers. */
  private lastNumber = randomInt(2 ** 47);
  private idle: (() => void)[] = [];

  private readonly queue: WaitingWrites;

  constructor(
    private readonly environment: Environment,
    private readonly reader: Reader,
    /** Returns the time of a write, in milliseconds since 1970. */
    private readonly now: () => number,
    private readonly limits: WriterLimits,
    private readonly on: WriterEvents,
    private readonly diskSpace = new DiskSpaceGuard(environment),
  ) {
    this.puts = new Puts(environment);
    this.queue = new WaitingWrites(environment.dir, environment.lock, limits.writeTimeoutMs);
  }

  get busy(): boolean {
    return this.underWay > 0 || this.queue.length > 0;
  }

  /** Adds a write to the next batch. */
  commit(waiting: WaitingWrite): void {
    this.queue.push(waiting);
    this.startBatch();
  }

  /** Returns the reason why writes currently fail; undefined if they succeed. */
  obstacle(): StoreError | undefined {
    return this.environment.syncs.failure ?? this.queue.obstacle ?? this.diskSpace.obstacle();
  }

  /** Resolves when no batch is in progress. */
  settled(): Promise<void> {
    return this.busy ? new Promise((resolve) => this.idle.push(resolve)) : Promise.resolve();
  }

  /**
   * Returns the batch of this writer that wrote a committed state and isn't acknowledged yet. Its events needn't be read from the
   * store.
   */
  unacknowledgedBatch({ batch }: State): Batch | undefined {
    for (const untold of this.unacknowledged) if (untold.number === batch) return untold;
    return undefined;
  }

  /** Rejects the waiting writes when the store closes. */
  abandon(): StoreError {
    return this.queue.abandon();
  }

  private startBatch(): void {
    if (this.queue.opening || this.underWay >= batchesUnderWay || this.queue.length === 0) return;
    if (this.queue.canDefer && this.underWay > 0) return;
    this.refuseWhileFull();
    if (this.queue.length === 0) return;
    this.underWay++;
    const { canDefer } = this.queue;
    if (!canDefer) this.queue.open();
    (canDefer ? this.runDeferred() : this.runBatch())
      .catch((error: unknown) => this.on.failed(error))
      .finally(() => this.endBatch());
  }

  private endBatch(): void {
    this.underWay--;
    this.startBatch();
    if (this.busy) return;
    this.on.idle();
    for (const resolve of this.idle.splice(0)) resolve();
  }

  /**
   * Commits the waiting writes without a sync; with one if another process writes too. A write that needs a sync doesn't wait for it:
   * its batch begins meanwhile, and takes the waiting writes along.
   */
  private async runDeferred(): Promise<void> {
    const { queue } = this;
    const isNeeded = () => queue.canDefer && queue.length > 0;
    // The writes of one turn of the event loop form a batch.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      if (await this.environment.syncs.ready(isNeeded)) this.commitUnsynced();
    } catch (error) {
      if (error instanceof StoreError) return this.refuse(queue.withdrawAll(), error);
      if (!(error instanceof MustSync)) throw error;
      if (!isNeeded() || queue.opening) return;
      queue.open();
      await this.runBatch();
    }
  }

  /** @throws {MustSync} nothing was written, and the writes still wait. */
  private commitUnsynced(): void {
    const writes = this.queue.removeAll();
    let batch: Batch | undefined;
    try {
      this.environment.syncs.commit(writes.length, this.now(), (unsyncedSince) => {
        batch = this.write(writes, () => unsyncedSince);
      });
    } catch (error) {
      if (error instanceof MustSync) {
        this.queue.putBack(writes);
        throw error;
      }
      const reported = writeError(this.environment.dir, error);
      this.diskSpace.failed(reported);
      this.refuse(writes, reported);
      return;
    }
    if (batch!.last > batch!.before) {
      this.diskSpace.succeeded();
      this.on.unsynced(Math.min(...writes.map(({ syncWithinMs }) => syncWithinMs!)));
    }
    this.acknowledge(batch!);
  }

  private async runBatch(): Promise<void> {
    const { root, syncs } = this.environment;
    let writes: WaitingWrite[] = [];
    let batch: Batch | undefined;
    let failure: unknown;
    try {
      await syncs.track(() =>
        root.transaction(() => {
          // More writes may have arrived since the transaction was requested.
          this.refuseWhileFull();
          writes = this.queue.removeAll();
          try {
            batch = this.write(writes, (state) => syncs.enterSynced(state));
            this.unacknowledged.add(batch);
          } catch (error) {
            // A put that LMDB rejects marks the transaction as failed: the whole batch is aborted.
            failure = error;
            throw error;
          }
        }),
      );
    } catch (error) {
      const cause = failure ?? (await transactionError(error));
      // If the transaction could not begin, all waiting writes fail.
      if (writes.length === 0) writes = this.queue.removeAll();
      const reported = writeError(this.environment.dir, cause);
      if (failure === undefined) this.diskSpace.failed(reported);
      this.refuse(writes, reported);
      return;
    } finally {
      if (batch !== undefined) this.unacknowledged.delete(batch);
    }
    if (batch === undefined) return;
    if (batch.last > batch.before) this.diskSpace.succeeded();
    this.acknowledge(batch);
  }

  private acknowledge(batch: Batch): void {
    try {
      if (batch.last > batch.before) this.on.committed(batch);
    } finally {
      for (const { to, result } of batch.outcomes) to.resolve(result);
      for (const { to, error } of batch.failed) to.reject(error);
    }
  }

  /**
   * Rejects the waiting writes without a transaction while the disk is full. Deletes are tried until one fails, because free pages
   * of the file may suffice.
   */
  private refuseWhileFull(): void {
    const refusal = this.diskSpace.refusal();
    if (refusal === undefined) return;
    this.refuse(this.diskSpace.paused ? this.queue.withdrawAll() : this.queue.withdrawGrowing(), refusal);
  }

  private refuse(writes: readonly WaitingWrite[], error: StoreError): void {
    this.failedWrites += writes.length;
    for (const { reject } of writes) reject(error);
  }

  /**
   * Must be called in the write transaction. Everything that can fail is done before the first put, because an exception doesn't
   * undo a put.
   *
   * @param enter called before the first put with the current state; returns the `unsyncedSince` of the new one.
   */
  private write(batched: readonly WaitingWrite[], enter: (state: State) => number | undefined): Batch {
    const { meta, marks, counts, log, history } = this.environment;
    const state = soundStateIn(meta.getBinaryFast("state"));
    const { revision: before, floor, markTime: markedAt } = state;
    const { steps, ...batch } = this.plan(batched, before);
    if (steps.length === 0) return batch;
    const unsyncedSince = enter(state);
    const counters = [...growthIn(steps, batch)]
      .filter(([, change]) => change !== 0)
      .map(
        ([prefix, change]) =>
          [prefix, encodeNumber(numberIn(counts.getBinaryFast(prefix)) + change)] as const,
      );
    const hasTransaction = steps.length > batch.last - before;
    this.puts.all(steps, hasTransaction);
    for (const [prefix, value] of counters) counts.putSync(prefix, value);
    const mark = markTime(this.now());
    if (mark !== markedAt) marks.putSync(markedAt, encodeNumber(before));
    // The log would need the removed values.
    if (batch.cutsHistory) for (const database of [log, history, marks]) database.clearSync();
    meta.putSync(
      "state",
      encodeState({
        revision: batch.last,
        floor: batch.cutsHistory ? batch.last : floor,
        markTime: mark,
        batch: batch.number,
        unsyncedSince,
        hasTransactions: !batch.cutsHistory && (hasTransaction || state.hasTransactions === true),
      }),
    );
    return batch;
  }

  /** Computes the outcome of each write of a batch, in order, without side effects. If that fails for a write, only this write fails. */
  private plan(
    batched: readonly WaitingWrite[],
    before: Revision,
  ): Batch & { readonly steps: readonly Step[] } {
    const batch = { number: ++this.lastNumber, before, events: [], outcomes: [], failed: [] } as Pick<
      Batch,
      "number" | "before" | "events" | "outcomes" | "failed"
    >;
    const steps: Step[] = [];
    const changed = new Map<string, Entry | undefined>();
    const storedRevisions = new Map<string, Revision | undefined>();
    const present: PresentState = {
      entry: (key) => (changed.has(key) ? changed.get(key) : this.reader.present(key)),
      revision: (key) => {
        if (changed.has(key)) return changed.get(key)?.revision;
        if (!storedRevisions.has(key)) storedRevisions.set(key, this.reader.present(key)?.revision);
        return storedRevisions.get(key);
      },
    };
    let remaining = remainingBytes(this.environment, this.limits.storeBytes);
    let last = before;
    for (const to of batched) {
      const { write } = to;
      const next = revisionOf(last + 1);
      const outcome = attempt(() => prepare(write, present, next));
      if (outcome.result === undefined) {
        batch.failed.push({ to, error: outcome.error });
        continue;
      }
      let needed = 0;
      for (const { event, record } of outcome.steps)
        if (record !== undefined) needed += maxBytesOf(record, event?.previous);
      remaining -= needed;
      if (needed > 0 && remaining < 0) {
        this.failedWrites++;
        batch.failed.push({
          to,
          error: fullError(this.environment.dir, "the store's size limit is reached"),
        });
        continue;
      }
      if (outcome.steps.length > 0) last = next;
      for (const step of outcome.steps) {
        steps.push(step);
        changed.set(step.write.key, step.event?.entry);
        if (step.event !== undefined) batch.events.push(step.event);
      }
      batch.outcomes.push({ to, result: outcome.result });
    }
    const cutsHistory = batch.events.length < steps.length;
    return { ...batch, events: cutsHistory ? [] : batch.events, last, cutsHistory, steps };
  }
}

/** Change of the number of keys by the steps of a batch. */
function growthIn(steps: readonly Step[], { events, cutsHistory }: Batch): Map<string, number> {
  if (!cutsHistory) return growthOf(events);
  const discarded = steps.flatMap(({ event, write }) => (event === undefined ? [write.key] : []));
  return growthOf(
    steps.flatMap(({ event }) => event ?? []),
    discarded,
  );
}
