import type { Clock } from "./clock.ts";

/** How often something may be done. */
export interface ThrottleOptions {
  /** On average. */
  readonly perSecond: number;
  /** At once, after a time of rest. */
  readonly burst: number;
}

/** Says when something may be done that must not be done too often. */
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

  /** 0: it may be done, and that counts. Else the milliseconds after which to ask again. */
  take(): number {
    const { perSecond, burst } = this.options;
    const now = this.clock.monotonicNow();
    this.left = Math.min(burst, this.left + (Math.max(0, now - this.at) * perSecond) / 1000);
    this.at = now;
    if (this.left < 1) return Math.max(1, Math.ceil(((1 - this.left) * 1000) / perSecond));
    this.left--;
    return 0;
  }
}
