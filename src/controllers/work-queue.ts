import type { Clock, Timer } from "../base/time/clock.ts";
import { detach } from "../base/turns/maybe-promise.ts";
import { createYielder } from "../base/turns/yielding.ts";

/** Delay before the first retry of a key; each further delay is twice as long, up to `maxRetryMs`. */
const firstRetryMs = 20;
const maxRetryMs = 30_000;

/** Receives the events of a queue, for metrics. Times are in seconds. */
export interface QueueObserver {
  /** A key was added that wasn't waiting. */
  added(): void;
  /** The work on a key starts. */
  started(waitedSeconds: number): void;
  /** The work on a key has ended, with or without success. */
  done(workedSeconds: number): void;
  /** A key will be retried because its work failed. */
  retried(): void;
  /** The queue was closed with this number of waiting keys. */
  dropped(count: number): void;
}

/**
 * A queue of keys with a number of concurrent workers; a key is worked on by one worker at a time. A key that is added
 * while it waits is worked on once; a key that is added while it is worked on is worked on again afterwards. A failed
 * key is retried with growing delays.
 */
export class WorkQueue {
  /** The waiting keys with the monotonic time at which they were added, in milliseconds. */
  private readonly waiting = new Map<string, number>();
  private readonly failures = new Map<string, number>();
  /** The next scheduled addition of each key. */
  private readonly later = new Map<string, { readonly at: number; readonly timer: Timer }>();
  private readonly ending = new AbortController();
  /** Number of running workers. */
  private running = 0;
  /** Keys that are being worked on. */
  private readonly working = new Set<string>();
  /** Called when no worker runs any more; set while `close` waits for that. */
  private idle: (() => void) | undefined;

  /**
   * @param clock measures the delays of retries.
   * @param work brings one key to its desired state; if it throws, it is retried. Long work should stop early when
   *   the signal is aborted, which means that the queue is being closed.
   * @param failed called with each failure.
   * @param observer receives the events of the queue.
   * @param workers number of keys that are worked on concurrently; 1 by default. With more than one, their writes share the syncs
   *   of the store, and a slow key doesn't delay the others.
   */
  constructor(
    private readonly clock: Clock,
    private readonly work: (key: string, closing: AbortSignal) => Promise<void>,
    private readonly failed: (key: string, error: unknown) => void,
    private readonly observer?: QueueObserver,
    private readonly workers = 1,
  ) {}

  /** Adds a key, unless it waits already. */
  add(key: string): void {
    if (this.closed) return;
    if (!this.waiting.has(key)) {
      this.waiting.set(key, this.clock.monotonicNow());
      this.observer?.added();
    }
    if (this.running >= this.workers) return;
    this.running++;
    detach(this.run(), (error) => this.failed(key, error));
  }

  /** Adds a key after a delay. Of several pending additions of a key only the earliest remains. */
  addLater(key: string, delayMs: number): void {
    if (this.closed) return;
    const at = this.clock.monotonicNow() + delayMs;
    const pending = this.later.get(key);
    if (pending !== undefined && pending.at <= at) return;
    pending?.timer.cancel();
    const timer = this.clock.setTimer(() => {
      this.later.delete(key);
      this.add(key);
    }, delayMs);
    this.later.set(key, { at, timer });
  }

  /** Drops all waiting keys. Resolves when no work is running. */
  async close(): Promise<void> {
    this.ending.abort();
    this.observer?.dropped(this.waiting.size);
    this.waiting.clear();
    for (const { timer } of this.later.values()) timer.cancel();
    this.later.clear();
    if (this.running > 0) await new Promise<void>((resolve) => (this.idle = resolve));
  }

  private get closed(): boolean {
    return this.ending.signal.aborted;
  }

  /** Works until no key waits that isn't being worked on, and yields to the event loop between keys. */
  private async run(): Promise<void> {
    // The caller of `add` continues first: work never starts synchronously.
    await Promise.resolve();
    // Work that never waits, such as reads of the embedded store, would otherwise block the event loop until no key waits.
    const yieldIfDue = createYielder();
    for (let key = this.next(); key !== undefined; key = this.next()) {
      const begunAt = this.clock.monotonicNow();
      await this.attempt(key);
      this.observer?.done((this.clock.monotonicNow() - begunAt) / 1000);
      // A key that was added meanwhile is found in the next iteration.
      this.working.delete(key);
      const pause = yieldIfDue();
      if (pause !== undefined) await pause;
    }
    // In the same synchronous section as the last check of the queue, so that a key that is added later starts a new
    // worker.
    this.running--;
    if (this.running === 0) this.idle?.();
  }

  /** Removes and returns the key that has waited longest and isn't being worked on. */
  private next(): string | undefined {
    for (const [key, addedAt] of this.waiting) {
      if (this.working.has(key)) continue;
      this.waiting.delete(key);
      this.working.add(key);
      this.observer?.started((this.clock.monotonicNow() - addedAt) / 1000);
      return key;
    }
    return undefined;
  }

  private async attempt(key: string): Promise<void> {
    try {
      await this.work(key, this.ending.signal);
      this.failures.delete(key);
    } catch (error) {
      if (this.closed) return;
      const count = (this.failures.get(key) ?? 0) + 1;
      this.failures.set(key, count);
      this.failed(key, error);
      this.observer?.retried();
      this.addLater(key, Math.min(maxRetryMs, firstRetryMs * 2 ** (count - 1)));
    }
  }
}
