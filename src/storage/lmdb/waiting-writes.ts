import type { CommitResult, StoreTimeoutError, Write } from "../store.ts";
import { lockedError } from "./errors.ts";
import type { WriterLock } from "./writer-lock.ts";

/** Maximum number of writes in a batch; it bounds how long the transaction callback blocks the event loop. */
const batchWrites = 256;
const batchBytes = 2 * 1024 * 1024;

/** Interval for checking for timed-out writes. */
const checkMs = 250;
/** If a transaction can't begin for this time, another process is assumed to block this one. */
const stuckMs = 1000;

/** A pending write with its promise callbacks. */
export interface WaitingWrite {
  readonly write: Write;
  /** Time of its arrival, from `performance.now()`. */
  readonly since: number;
  resolve(result: CommitResult): void;
  reject(error: unknown): void;
}

/**
 * Writes that wait for a transaction to begin. A transaction needs the write lock, which all processes over the folder share: a
 * stopped process with the lock blocks all others. A write that times out is removed and will never be applied.
 */
export class WaitingWrites {
  private queue: WaitingWrite[] = [];
  /** Start time of the transaction that waits to begin; undefined if there is none. */
  private openingSince: number | undefined;
  private timer: NodeJS.Timeout | undefined;

  /** @param limitMs maximum wait of a write. */
  constructor(
    private readonly dir: string,
    private readonly lock: WriterLock,
    private readonly limitMs: number,
  ) {}

  get length(): number {
    return this.queue.length;
  }

  /** Whether a transaction waits to begin; it will include the writes that arrive until then. */
  get opening(): boolean {
    return this.openingSince !== undefined;
  }

  /** The error if a transaction has waited to begin for too long. */
  get obstacle(): StoreTimeoutError | undefined {
    if (this.openingSince === undefined) return undefined;
    const waitedMs = performance.now() - this.openingSince;
    return waitedMs < stuckMs ? undefined : lockedError(this.dir, this.lock.holder(), waitedMs);
  }

  push(waiting: WaitingWrite): void {
    this.queue.push(waiting);
  }

  /** Records that a transaction was requested. */
  open(): void {
    this.openingSince = performance.now();
    this.timer ??= setTimeout(() => this.check(), checkMs);
  }

  /** Removes and returns all writes, when the transaction has begun or has failed to begin. */
  removeAll(): WaitingWrite[] {
    let bytes = 0;
    let count = 0;
    this.openingSince = undefined;
    while (count < this.queue.length && count < batchWrites && bytes < batchBytes) {
      const { write } = this.queue[count++]!;
      if (write.kind !== "delete") bytes += write.draft.body.length;
    }
    return this.queue.splice(0, count);
  }

  /** Removes and returns the writes that need space: all except deletes. */
  withdrawGrowing(): WaitingWrite[] {
    const growing = this.queue.filter(({ write }) => write.kind !== "delete");
    this.queue = this.queue.filter(({ write }) => write.kind === "delete");
    return growing;
  }

  /** Removes and returns all writes. */
  withdrawAll(): WaitingWrite[] {
    return this.queue.splice(0);
  }

  /** Rejects all writes and returns the error. */
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
    for (const { reject } of this.queue.splice(0, count)) reject(error);
  }
}
