import type { Clock } from "../../base/clock.ts";

/**
 * Time in microseconds, which a {@link Clock} doesn't give: what it says, with a fraction that grows as time passes. Two
 * calls within one of the clock's milliseconds are in order, and none is ever outside of it.
 */
export class MicroClock {
  private offsetMs: number;

  /** @param passedMs milliseconds, with a fraction, since some moment. */
  constructor(
    private readonly clock: Clock,
    private readonly passedMs: () => number,
  ) {
    this.offsetMs = clock.now() - passedMs();
  }

  /** Microseconds since 1970-01-01T00:00:00Z. */
  now(): number {
    const wall = this.clock.now();
    const passed = this.passedMs();
    const guess = passed + this.offsetMs;
    if (guess >= wall && guess < wall + 1) return Math.floor(guess * 1000);
    const nearest = guess < wall ? wall : wall + lastMicrosecond;
    this.offsetMs = nearest - passed;
    return Math.floor(nearest * 1000);
  }
}

/** Of a millisecond. */
const lastMicrosecond = 0.999;

/** A time in microseconds as events show it: `2026-01-02T03:04:05.678901Z`. */
export function microTimeText(micros: number): string {
  const whole = Math.floor(micros / 1_000_000);
  const secondText = new Date(whole * 1000).toISOString().slice(0, 20);
  return `${secondText}${String(micros - whole * 1_000_000).padStart(6, "0")}Z`;
}
