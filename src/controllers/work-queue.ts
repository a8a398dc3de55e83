import type { Clock, Timer } from "../base/clock.ts";
import { detach } from "../base/maybe-promise.ts";

/** After the first failure of a key it is tried again after this time, then after twice as long, and so on. */
const firstRetryMs = 20;
const maxRetryMs = 30_000;

/** Told what happens in a queue, for the metrics. Times are in seconds. */
export interface QueueObserver {
  /** A key that didn't wait was added. */
  added(): void;
  /** The work on a key begins. */
  taken(waitedSeconds: number): void;
  /** The work on a key has ended, well or not. */
  done(workedSeconds: number): void;
  /** A key is added again later, because its work failed. */
  retried(): void;
  /** So many keys that waited won't be worked on: the queue was closed. */
  dropped(count: number): void;
}

/**
 * Keys that wait to be worked on, some at a time, each by one worker. A key that is added while it waits is worked on once;
 * one that is added while it is worked on is worked on again, afterwards. A failed key is tried again, later each time.
 */
export class WorkQueue {
  /** When each key was added, in milliseconds since 1970. */
  private readonly waiting = new Map<string, number>();
  private readonly failures = new Map<string, number>();
  /** The next time at which a key is added by itself. */
  private readonly later = new Map<string, { readonly at: number; readonly timer: Timer }>();
  private readonly ending = new AbortController();
  /** How many workers there are at present. */
  private running = 0;
  /** The keys that are worked on. */
  private readonly working = new Set<string>();
  /** Settles when nothing is worked on any more; known while a close waits for that. */
  private idle: (() => void) | undefined;

  /**
   * @param work brings one key to its desired state; throwing means that it is to be tried again. Work that takes long
   *   ends early when the signal tells that the queue is being closed.
   * @param failed called with each failure.
   * @param observer told what happens.
   * @param workers how many keys are worked on at a time. With more than one, their writes share the syncs of the store,
   *   and a key whose work takes long holds up none of the others.
   */
  constructor(
    private readonly clock: Clock,
    private readonly work: (key: string, closing: AbortSignal) => Promise<void>,
    private readonly failed: (key: string, error: unknown) => void,
    private readonly observer?: QueueObserver,
    private readonly workers = 1,
  ) {}

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

  /** Adds a key after a time; of several times the earliest counts. */
  addLater(key: string, delayMs: number): void {
    if (this.closed) return;
    const at = this.clock.monotonicNow() + delayMs;
    const known = this.later.get(key);
    if (known !== undefined && known.at <= at) return;
    known?.timer.cancel();
    const timer = this.clock.setTimer(() => {
      this.later.delete(key);
      this.add(key);
    }, delayMs);
    this.later.set(key, { at, timer });
  }

  /** Resolves when nothing is being worked on. */
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

  /** Works until nothing waits that nobody works on. */
  private async run(): Promise<void> {
    // Whoever adds a key goes on first: the work never begins within its turn.
    await Promise.resolve();
    for (let key = this.take(); key !== undefined; key = this.take()) {
      const begunAt = this.clock.monotonicNow();
      await this.attempt(key);
      this.observer?.done((this.clock.monotonicNow() - begunAt) / 1000);
      // Whatever was added meanwhile is seen by this worker's next look.
      this.working.delete(key);
    }
    // In the same turn as the last look at what waits: a key that is added later must find a worker missing.
    this.running--;
    if (this.running === 0) this.idle?.();
  }

  /** The key that waits longest of those that nobody works on. */
  private take(): string | undefined {
    for (const [key, addedAt] of this.waiting) {
      if (this.working.has(key)) continue;
      this.waiting.delete(key);
      this.working.add(key);
      this.observer?.taken((this.clock.monotonicNow() - addedAt) / 1000);
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
