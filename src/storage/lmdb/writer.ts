import { randomInt } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import { firstFailed } from "../conditions.ts";
import { revisionOf } from "../entry.ts";
import { countersOf, isIn } from "../keys.ts";
import {
  type CommitResult,
  type Entry,
  type Revision,
  type StoreError,
  type StoreEvent,
  type Write,
} from "../store.ts";
import { markTime } from "../time-marks.ts";
import { LogEncoder } from "./codecs.ts";
import type { Environment } from "./databases.ts";
import { DiskSpaceGuard } from "./disk-room.ts";
import { fullError, transactionError, writeError } from "./errors.ts";
import { encodeNumber, encodeRecord, encodeState, isIndexed, recordOf, type State } from "./layout.ts";
import { numberIn, type Reader, soundStateIn } from "./reader.ts";
import { roomLeft } from "./room.ts";
import { type WaitingWrite, WaitingWrites } from "./waiting-writes.ts";

/** The next batch waits behind the one that syncs, so that the disk is never idle. */
const batchesUnderWay = 2;

/** What a write takes beside its value and the superseded one, at most: keys, the index's share, pages in part. */
const writeOverheadBytes = 4096;

const noBytes = Buffer.alloc(0);
const append = { append: true };

/** What a batch did, to be told when it is durable. */
export interface Batch {
  /** Stands in the state that the batch leaves, so that it is known by it. */
  readonly number: number;
  /** The last revision before the batch's own. */
  readonly before: Revision;
  readonly events: StoreEvent[];
  readonly outcomes: { readonly to: WaitingWrite; readonly result: CommitResult }[];
  readonly failed: { readonly to: WaitingWrite; readonly error: unknown }[];
}

/** How much and how long. */
export interface WriterLimits {
  /** The most that the store may hold. */
  readonly storeBytes: number;
  /** How long a write may wait for other processes. */
  readonly writeTimeoutMs: number;
}

/** What a writer tells its store. */
export interface WriterEvents {
  /** A batch that wrote something is durable; its writes are acknowledged next. */
  durable(batch: Batch): void;
  /** Nothing is under way any more. */
  idle(): void;
  /** A listener failed on what it was told: a bug. The writes are acknowledged all the same. */
  failed(error: unknown): void;
}

/**
 * Commits writes in batches: those that arrive while a batch is written form the next one, and each batch is one
 * transaction with one sync, made on another thread. Expectations are checked and revisions given inside the
 * transaction, so writers in other processes are no different from those in this one.
 */
export class Writer {
  private readonly logEncoder = new LogEncoder();
  private underWay = 0;
  /** How many writes failed because the store had no room for them or could not commit them. */
  failedWrites = 0;
  /** Batches that were written and may be durable, which this thread wasn't told yet. */
  private readonly unacknowledged = new Set<Batch>();
  /** Begins anywhere, so that no two writers over one folder number their batches alike. */
  private lastNumber = randomInt(2 ** 47);
  private idle: (() => void)[] = [];

  private readonly queue: WaitingWrites;

  constructor(
    private readonly environment: Environment,
    private readonly reader: Reader,
    private readonly clock: Clock,
    private readonly limits: WriterLimits,
    private readonly on: WriterEvents,
    private readonly room = new DiskSpaceGuard(environment),
  ) {
    this.queue = new WaitingWrites(environment.dir, environment.lock, limits.writeTimeoutMs);
  }

  get busy(): boolean {
    return this.underWay > 0 || this.queue.length > 0;
  }

  /** Takes a write into the next batch. */
  commit(waiting: WaitingWrite): void {
    this.queue.push(waiting);
    this.startBatch();
  }

  /** Why writes don't get through at present. */
  obstacle(): StoreError | undefined {
    return this.queue.obstacle ?? this.room.obstacle();
  }

  /** Resolves when nothing is under way. */
  settled(): Promise<void> {
    return this.busy ? new Promise((resolve) => this.idle.push(resolve)) : Promise.resolve();
  }

  /**
   * The batch of this writer that left a state that is committed, while its writes are still to be acknowledged. What it
   * says needn't be read.
   */
  unacknowledgedBatch({ batch }: State): Batch | undefined {
    for (const untold of this.unacknowledged) if (untold.number === batch) return untold;
    return undefined;
  }

  /** Withdraws what waits, for a store that closes; gives the reason. */
  abandon(): StoreError {
    return this.queue.abandon();
  }

  private startBatch(): void {
    if (this.queue.opening || this.underWay >= batchesUnderWay || this.queue.length === 0) return;
    this.refuseWhileFull();
    if (this.queue.length === 0) return;
    this.underWay++;
    this.queue.open();
    this.runBatch()
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

  private async runBatch(): Promise<void> {
    let taken: WaitingWrite[] = [];
    let batch: Batch | undefined;
    let failure: unknown;
    try {
      await this.environment.root.transaction(() => {
        // Further writes may have come since the transaction was asked for.
        this.refuseWhileFull();
        taken = this.queue.removeAll();
        try {
          batch = this.write(taken);
          this.unacknowledged.add(batch);
        } catch (error) {
          // A put that LMDB refuses marks the transaction as failed: it is given up as a whole.
          failure = error;
          throw error;
        }
      });
    } catch (error) {
      const cause = failure ?? (await transactionError(error));
      // When the transaction could not even begin, everything that waits shares its fate.
      if (taken.length === 0) taken = this.queue.removeAll();
      const reported = writeError(this.environment.dir, cause);
      if (failure === undefined) this.room.failed(reported);
      this.refuse(taken, reported);
      return;
    } finally {
      if (batch !== undefined) this.unacknowledged.delete(batch);
    }
    if (batch === undefined) return;
    if (batch.events.length > 0) this.room.succeeded();
    this.acknowledge(batch);
  }

  private acknowledge(batch: Batch): void {
    try {
      if (batch.events.length > 0) this.on.durable(batch);
    } finally {
      for (const { to, result } of batch.outcomes) to.resolve(result);
      for (const { to, error } of batch.failed) to.reject(error);
    }
  }

  /**
   * Refuses the waiting writes while the disk is full, without a transaction. Deletes are tried, as the file's free pages may
   * have room for them, until one has failed.
   */
  private refuseWhileFull(): void {
    const refusal = this.room.refusal();
    if (refusal === undefined) return;
    this.refuse(this.room.paused ? this.queue.withdrawAll() : this.queue.withdrawGrowing(), refusal);
  }

  private refuse(writes: readonly WaitingWrite[], error: StoreError): void {
    this.failedWrites += writes.length;
    for (const { reject } of writes) reject(error);
  }

  /**
   * Runs inside the write transaction. Everything that can fail comes before the first put: an exception after one would
   * not undo it.
   */
  private write(batched: readonly WaitingWrite[]): Batch {
    const { meta, marks, counts } = this.environment;
    const { revision: before, floor, markTime: markedAt } = soundStateIn(meta.getBinaryFast("state"));
    const { steps, ...batch } = this.plan(batched, before);
    if (steps.length === 0) return batch;
    const counters = [...growthOf(batch.events)]
      .filter(([, change]) => change !== 0)
      .map(
        ([prefix, change]) =>
          [prefix, encodeNumber(numberIn(counts.getBinaryFast(prefix)) + change)] as const,
      );
    for (const { write, event, record } of steps) this.put(write, event, record);
    for (const [prefix, value] of counters) counts.putSync(prefix, value);
    const mark = markTime(this.clock.now());
    if (mark !== markedAt) marks.putSync(markedAt, encodeNumber(before));
    const { revision } = steps.at(-1)!.event;
    meta.putSync("state", encodeState({ revision, floor, markTime: mark, batch: batch.number }));
    return batch;
  }

  /** The outcome of each write of a batch, in order; changes nothing. A write whose outcome can't be determined fails alone. */
  private plan(
    batched: readonly WaitingWrite[],
    before: Revision,
  ): Batch & { readonly steps: readonly Step[] } {
    const batch: Batch = { number: ++this.lastNumber, before, events: [], outcomes: [], failed: [] };
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
    let room = roomLeft(this.environment, this.limits.storeBytes);
    for (const to of batched) {
      const { write } = to;
      const next = revisionOf(before + steps.length + 1);
      const outcome = attempt(() => prepare(write, present, next));
      if (outcome.result === undefined) {
        batch.failed.push({ to, error: outcome.error });
        continue;
      }
      const { event, record } = outcome;
      if (record !== undefined) room -= maxBytesOf(record, event?.previous);
      if (record !== undefined && room < 0) {
        this.failedWrites++;
        batch.failed.push({
          to,
          error: fullError(this.environment.dir, "the store's size limit is reached"),
        });
        continue;
      }
      if (event !== undefined) {
        steps.push({ write, event, record });
        batch.events.push(event);
        changed.set(write.key, event.entry);
      }
      batch.outcomes.push({ to, result: outcome.result });
    }
    return { ...batch, steps };
  }

  private put({ kind, key }: Write, event: StoreEvent, record: Buffer | undefined): void {
    const { data, history, log } = this.environment;
    const superseded = event.previous === undefined ? undefined : recordOf(event.previous);
    if (superseded !== undefined && isIndexed(kind, superseded)) {
      history.putSync([key, event.revision], noBytes);
    }
    if (record === undefined) data.removeSync(key);
    else data.putSync(key, record);
    log.putSync(event.revision, this.logEncoder.encode(kind, key, superseded), append);
  }
}

/** How many bytes a write takes at most; what it superseded stays, in the log. */
function maxBytesOf(record: Buffer, superseded: Entry | undefined): number {
  return record.length + writeOverheadBytes + (superseded === undefined ? 0 : recordOf(superseded).length);
}

interface Prepared {
  readonly error?: undefined;
  readonly result: CommitResult;
  /** Absent for a conflict. */
  readonly event?: StoreEvent;
  readonly record?: Buffer | undefined;
}

/** The present state of keys, with the writes that come first in the batch. */
interface PresentState {
  entry(key: string): Entry | undefined;
  /** As that of {@link entry}; cheaper for a key that many writes of a batch depend on. */
  revision(key: string): Revision | undefined;
}

/** Returns the outcome of a write in a state, without side effects. */
function prepare(write: Write, present: PresentState, revision: Revision): Prepared {
  const { key } = write;
  const previous = present.entry(key);
  const expected = write.kind === "create" ? undefined : write.expected;
  if (previous?.revision !== expected) return { result: { ok: false, current: previous } };
  const failedCondition = firstFailed(write.conditions, (other) => present.revision(other));
  if (failedCondition !== undefined) return { result: { ok: false, current: previous, failedCondition } };
  const encoded = write.kind === "delete" ? undefined : encodeRecord(key, revision, write.draft, previous);
  return {
    result: { ok: true, revision, entry: (encoded?.entry ?? previous)! },
    event: { key, revision, entry: encoded?.entry, previous },
    record: encoded?.record,
  };
}

/** A write of a batch that takes effect. */
interface Step {
  readonly write: Write;
  readonly event: StoreEvent;
  /** Absent for a delete. */
  readonly record: Buffer | undefined;
}

interface Refused {
  readonly error: unknown;
  readonly result?: undefined;
  readonly record?: undefined;
}

function attempt(make: () => Prepared): Prepared | Refused {
  try {
    return make();
  } catch (error) {
    return { error };
  }
}

/** By how much the keys of each collection and partition become more. */
function growthOf(events: readonly StoreEvent[]): Map<string, number> {
  const growth = new Map<string, number>();
  let counted = { collection: "", partition: "" };
  let more = 0;
  const add = (): void => {
    if (more === 0) return;
    for (const prefix of [counted.collection, counted.partition]) {
      growth.set(prefix, (growth.get(prefix) ?? 0) + more);
    }
    more = 0;
  };
  for (const { key, entry, previous } of events) {
    // Most batches write to one partition.
    if (!isIn(key, counted.partition)) {
      add();
      counted = countersOf(key);
    }
    more += (entry === undefined ? 0 : 1) - (previous === undefined ? 0 : 1);
  }
  add();
  return growth;
}
