import type { Clock, Timer } from "../base/clock.ts";

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
 * Keys that wait to be worked on, one at a time. A key that is added while it waits is worked on once; one that is added
 * while it is worked on is worked on again. A failed key is tried again, later each time.
 */
export class WorkQueue {
  /** When each key was added, in milliseconds since 1970. */
  private readonly waiting = new Map<string, number>();
  private readonly failures = new Map<string, number>();
  /** The next time at which a key is added by itself. */
  private readonly later = new Map<string, { readonly at: number; readonly timer: Timer }>();
  private readonly ending = new AbortController();
  private running: Promise<void> | undefined;

  /**
   * @param work brings one key to its desired state; throwing means that it is to be tried again. Work that takes long
   *   ends early when the signal tells that the queue is being closed.
   * @param failed called with each failure.
   * @param observer told what happens.
   */
  constructor(
    private readonly clock: Clock,
    private readonly work: (key: string, closing: AbortSignal) => Promise<void>,
    private readonly failed: (key: string, error: unknown) => void,
    private readonly observer?: QueueObserver,
  ) {}

  add(key: string): void {
    if (this.closed) return;
    if (!this.waiting.has(key)) {
      this.waiting.set(key, this.clock.now());
      this.observer?.added();
    }
    this.running ??= this.run();
  }

  /** Adds a key after a time; of several times the earliest counts. */
  addLater(key: string, delayMs: number): void {
    if (this.closed) return;
    const at = this.clock.now() + delayMs;
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
    await this.running;
  }

  private get closed(): boolean {
    return this.ending.signal.aborted;
  }

  private async run(): Promise<void> {
    await Promise.resolve();
    for (const [key, addedAt] of this.waiting) {
      this.waiting.delete(key);
      const begunAt = this.clock.now();
      this.observer?.taken((begunAt - addedAt) / 1000);
      await this.attempt(key);
      this.observer?.done((this.clock.now() - begunAt) / 1000);
    }
    // In the same turn as the last look at what waits: a key that is added later must find nothing running.
    this.running = undefined;
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
