import type { Clock } from "./clock.ts";

/** How often something may be done. */
export interface ThrottleOptions {
  /** On average. */
  readonly perSecond: number;
  /** Maximum number at once after an idle time. */
  readonly burst: number;
}

/** A token bucket: limits how often something is done. */
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

  /** Takes a token and returns 0, or returns the milliseconds after which to try again. */
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
