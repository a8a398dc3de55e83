import type { CommitResult, StoreTimeoutError, TransactionResult, Write } from "../store.ts";
import { draftBytes } from "../transaction.ts";
import type { Discard, Transaction } from "./prepared-writes.ts";
import { lockedError } from "./errors.ts";
import type { WriterLock } from "./writer-lock.ts";

/** Maximum number of writes and bytes in a batch, so that the callback of its transaction doesn't block the event loop. */
const batchWrites = 256;
const batchBytes = 2 * 1024 * 1024;

/** Interval of the check for writes that waited too long. */
const checkMs = 250;
/** Time after which another process is assumed to hold the lock, if a transaction can't begin. */
const stuckMs = 1000;

/** A write or a transaction with its callbacks. */
export interface WaitingWrite {
  readonly write: Write | Discard | Transaction;
  /** Time of the call, in milliseconds of `performance.now()`. */
  readonly since: number;
  /** Maximum time from the commit to its sync, in milliseconds; if undefined, the write is acknowledged after its sync. */
  readonly syncWithinMs?: number | undefined;
  resolve(result: CommitResult | TransactionResult): void;
  reject(error: unknown): void;
}

/**
 * Writes that wait for a transaction. A transaction needs the lock that all processes of the folder share, so a stopped process
 * that has the lock blocks all others. A write that waits longer than its limit is removed and never executed.
 */
export class WaitingWrites {
  private queue: WaitingWrite[] = [];
  /** Number of waiting writes that are acknowledged after their sync. */
  private synced = 0;
  /** Time at which a transaction was requested; undefined if none is waiting. */
  private openingSince: number | undefined;
  private timer: NodeJS.Timeout | undefined;

  /** @param limitMs maximum time that a write waits. */
  constructor(
    private readonly dir: string,
    private readonly lock: WriterLock,
    private readonly limitMs: number,
  ) {}

  get length(): number {
    return this.queue.length;
  }

  /** Whether a transaction was requested and hasn't begun; it will execute the writes that arrive until then. */
  get opening(): boolean {
    return this.openingSince !== undefined;
  }

  /** Returns the reason why no transaction begins, if that takes too long. */
  get obstacle(): StoreTimeoutError | undefined {
    if (this.openingSince === undefined) return undefined;
    const waitedMs = performance.now() - this.openingSince;
    return waitedMs < stuckMs ? undefined : lockedError(this.dir, this.lock.holder(), waitedMs);
  }

  push(waiting: WaitingWrite): void {
    this.queue.push(waiting);
    if (waiting.syncWithinMs === undefined) this.synced++;
  }

  /** Whether all waiting writes may be acknowledged before they are synced. */
  get canDefer(): boolean {
    return this.synced === 0;
  }

  /** Records that a transaction was requested. */
  open(): void {
    this.openingSince = performance.now();
    this.timer ??= setTimeout(() => this.check(), checkMs);
  }

  /** Records that the transaction began or failed; returns its writes. */
  removeAll(): WaitingWrite[] {
    let bytes = 0;
    let count = 0;
    this.openingSince = undefined;
    while (count < this.queue.length && count < batchWrites && bytes < batchBytes) {
      const { write } = this.queue[count++]!;
      if (write.kind === "transaction") bytes += draftBytes(write.writes);
      else if ("draft" in write) bytes += write.draft.body.length;
    }
    return this.remove(count);
  }

  private remove(count: number): WaitingWrite[] {
    const removed = this.queue.splice(0, count);
    for (const { syncWithinMs } of removed) if (syncWithinMs === undefined) this.synced--;
    return removed;
  }

  /** Puts back writes of {@link removeAll} that were not executed. */
  putBack(writes: readonly WaitingWrite[]): void {
    const later = this.withdrawAll();
    for (const waiting of [...writes, ...later]) this.push(waiting);
  }

  /** Removes and returns the writes that need space: all except deletes. */
  withdrawGrowing(): WaitingWrite[] {
    const all = this.withdrawAll();
    for (const waiting of all) if (!needsSpace(waiting.write)) this.push(waiting);
    return all.filter(({ write }) => needsSpace(write));
  }

  /** Removes and returns all writes. */
  withdrawAll(): WaitingWrite[] {
    return this.remove(this.queue.length);
  }

  /** Rejects all writes with an error. */
  abandon(): StoreTimeoutError {
    clearTimeout(this.timer);
    this.withdraw(this.queue.length);
    const waitedMs = this.openingSince === undefined ? this.limitMs : performance.now() - this.openingSince;
    return lockedError(this.dir, this.lock.holder(), waitedMs);
  }

  private check(): void {
    this.timer = undefined;
    if (this.openingSince === undefined) return;
    const oldest = performance.now() - this.limitMs;
    let count = 0;
    while (count < this.queue.length && this.queue[count]!.since <= oldest) count++;
    this.withdraw(count);
    this.timer = setTimeout(() => this.check(), checkMs);
  }

  private withdraw(count: number): void {
    if (count === 0) return;
    const waitedMs = performance.now() - this.queue[0]!.since;
    const error = lockedError(this.dir, this.lock.holder(), waitedMs);
    for (const { reject } of this.remove(count)) reject(error);
  }
}

function needsSpace(write: WaitingWrite["write"]): boolean {
  return write.kind === "transaction" ? write.writes.some((one) => "draft" in one) : "draft" in write;
}
