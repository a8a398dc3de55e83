import type { Clock, Timer } from "../base/clock.ts";

/** After the first failure of a key it is tried again after this time, then after twice as long, and so on. */
const firstRetryMs = 20;
const maxRetryMs = 30_000;

/**
 * Keys that wait to be worked on, one at a time. A key that is added while it waits is worked on once; one that is added
 * while it is worked on is worked on again. A failed key is tried again, later each time.
 */
export class WorkQueue {
  private readonly waiting = new Set<string>();
  private readonly failures = new Map<string, number>();
  private readonly timers = new Set<Timer>();
  private running: Promise<void> | undefined;
  private closed = false;

  /**
   * @param work brings one key to its desired state; throwing means that it is to be tried again.
   * @param failed told of each failure.
   */
  constructor(
    private readonly clock: Clock,
    private readonly work: (key: string) => Promise<void>,
    private readonly failed: (key: string, error: unknown) => void,
  ) {}

  add(key: string): void {
    if (this.closed) return;
    this.waiting.add(key);
    this.running ??= this.run();
  }

  /** Adds a key after a time. */
  addLater(key: string, delayMs: number): void {
    if (this.closed) return;
    const timer = this.clock.setTimer(() => {
      this.timers.delete(timer);
      this.add(key);
    }, delayMs);
    this.timers.add(timer);
  }

  /** Resolves when nothing is being worked on. */
  async close(): Promise<void> {
    this.closed = true;
    this.waiting.clear();
    for (const timer of this.timers) timer.cancel();
    await this.running;
  }

  private async run(): Promise<void> {
    await Promise.resolve();
    for (const key of this.waiting) {
      this.waiting.delete(key);
      await this.attempt(key);
    }
    // In the same turn as the last look at what waits: a key that is added later must find nothing running.
    this.running = undefined;
  }

  private async attempt(key: string): Promise<void> {
    try {
      await this.work(key);
      this.failures.delete(key);
    } catch (error) {
      if (this.closed) return;
      const count = (this.failures.get(key) ?? 0) + 1;
      this.failures.set(key, count);
      this.failed(key, error);
      this.addLater(key, Math.min(maxRetryMs, firstRetryMs * 2 ** (count - 1)));
    }
  }
}
