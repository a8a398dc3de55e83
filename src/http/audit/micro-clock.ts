import type { Clock } from "../../base/time/clock.ts";

/**
 * A clock with microseconds. It adds a growing fraction to the milliseconds of a {@link Clock}: calls within one of its
 * milliseconds are in order, and the result never leaves that millisecond.
 */
export class MicroClock {
  private offsetMs: number;

  /** @param passedMs returns milliseconds with a fraction, from any fixed origin. */
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

/** In milliseconds. */
const lastMicrosecond = 0.999;

/** Formats a time in microseconds: `2026-01-02T03:04:05.678901Z`. */
export function microTimeText(micros: number): string {
  const whole = Math.floor(micros / 1_000_000);
  const secondText = new Date(whole * 1000).toISOString().slice(0, 20);
  return `${secondText}${String(micros - whole * 1_000_000).padStart(6, "0")}Z`;
}
