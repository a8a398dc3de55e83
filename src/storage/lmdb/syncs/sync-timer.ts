import type { Clock, Timer } from "../../../base/time/clock.ts";
import type { DeferredSyncs } from "./deferred-syncs.ts";

/** Delay before a sync that another process prevented is tried again. */
const retryMs = 1000;

/** Syncs deferred commits before their time is over. */
export class SyncTimer {
  private timer: Timer | undefined;
  /** Time at which the timer ends, in milliseconds of the clock's `monotonicNow`. */
  private end = Infinity;

  /** @param failed called with the error of a sync. */
  constructor(
    private readonly syncs: DeferredSyncs,
    private readonly clock: Clock,
    private readonly failed: ((error: unknown) => void) | undefined,
  ) {}

  /** Syncs the commits of before the call within this time, or at once if there are many. */
  start(withinMs: number): void {
    const dueMs = this.syncs.isDue ? 0 : withinMs;
    const end = this.clock.monotonicNow() + dueMs;
    if (end >= this.end) return;
    this.stop();
    this.end = end;
    this.timer = this.clock.setTimer(() => {
      this.end = Infinity;
      this.syncs.sync().catch((error: unknown) => {
        this.failed?.(error);
        if (this.syncs.failure === undefined) this.start(retryMs);
      });
    }, dueMs);
  }

  stop(): void {
    this.timer?.cancel();
    this.end = Infinity;
  }
}
