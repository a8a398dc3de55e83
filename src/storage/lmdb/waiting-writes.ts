import type { CommitResult, StoreTimeoutError, Write } from "../store.ts";
import { lockedError } from "./errors.ts";
import type { WriterLock } from "./writer-lock.ts";

/** A batch is cut here, so that the callback that fills its transaction doesn't hold up the event loop. */
const batchWrites = 256;
const batchBytes = 2 * 1024 * 1024;

/** How often it is looked whether a write has waited for too long. */
const checkMs = 250;
/** When a transaction couldn't begin for this time, another process is assumed to block this one. */
const stuckMs = 1000;

/** A write, and who waits for it. */
export interface WaitingWrite {
  readonly write: Write;
  /** When it came, in milliseconds of `performance.now()`. */
  readonly since: number;
  resolve(result: CommitResult): void;
  reject(error: unknown): void;
}

/**
 * The writes that wait for a transaction to begin. That takes the lock which all processes over the folder share, so one
 * that stands still while it holds the lock keeps all others waiting; a write that has waited for its time is withdrawn, and
 * will never be made.
 */
export class WaitingWrites {
  private queue: WaitingWrite[] = [];
  /** Since when a transaction waits to begin; undefined: none does. */
  private openingSince: number | undefined;
  private timer: NodeJS.Timeout | undefined;

  /** @param limitMs how long a write may wait. */
  constructor(
    private readonly dir: string,
    private readonly lock: WriterLock,
    private readonly limitMs: number,
  ) {}

  get length(): number {
    return this.queue.length;
  }

  /** Whether a batch's transaction is still to begin; it will take what arrives until then. */
  get opening(): boolean {
    return this.openingSince !== undefined;
  }

  /** Why no transaction begins, once that has taken too long. */
  get obstacle(): StoreTimeoutError | undefined {
    if (this.openingSince === undefined) return undefined;
    const waitedMs = performance.now() - this.openingSince;
    return waitedMs < stuckMs ? undefined : lockedError(this.dir, this.lock.holder(), waitedMs);
  }

  push(waiting: WaitingWrite): void {
    this.queue.push(waiting);
  }

  /** A transaction has been asked for. */
  open(): void {
    this.openingSince = performance.now();
    this.timer ??= setTimeout(() => this.check(), checkMs);
  }

  /** The transaction has begun, or can't: gives the writes that share its fate. */
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

  /** Takes the writes out that need room, which are all but deletes. */
  withdrawGrowing(): WaitingWrite[] {
    const growing = this.queue.filter(({ write }) => write.kind !== "delete");
    this.queue = this.queue.filter(({ write }) => write.kind === "delete");
    return growing;
  }

  /** Takes all writes out. */
  withdrawAll(): WaitingWrite[] {
    return this.queue.splice(0);
  }

  /** Withdraws all writes for good, and gives the reason. */
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
