import type { Clock } from "../time/clock.ts";

/** Limits of a {@link Throttle}. */
export interface ThrottleOptions {
  /** Average number of operations per second. */
  readonly perSecond: number;
  /** Maximum number of operations at once after an idle time. */
  readonly burst: number;
}

/** A token bucket, which limits the rate of an operation. */
export class Throttle {
  private left: number;
  private at: number;

  constructor(
    private readonly options: ThrottleOptions,
    private readonly clock: Clock,
  ) {
    this.left = options.burst;
    this.at = clock.monotonicNow();
  }

  /** Takes a token and returns 0; if there is none, returns the milliseconds until there is one. */
  takeToken(): number {
    const { perSecond, burst } = this.options;
    const now = this.clock.monotonicNow();
    this.left = Math.min(burst, this.left + (Math.max(0, now - this.at) * perSecond) / 1000);
    this.at = now;
    if (this.left < 1) return Math.max(1, Math.ceil(((1 - this.left) * 1000) / perSecond));
    this.left--;
    return 0;
  }
}
