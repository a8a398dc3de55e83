/** Part of the smoothed demand that remains after one period of lower demand. */
const remembered = 0.9775;

/** Measures the demand of a level in seats: those in use and those that requests wait for, by period. */
export class Demand {
  private value = 0;
  private since: number;
  private begun: number;
  private sum = 0;
  private squares = 0;
  private top = 0;
  /** Demand, smoothed over the periods. */
  smooth = 0;
  /** Highest demand of the last complete period. */
  highest = 0;

  /** @param nowMs time in milliseconds, as in all methods. */
  constructor(nowMs: number) {
    this.since = nowMs;
    this.begun = nowMs;
  }

  /** Sets the present demand in seats. */
  set(nowMs: number, seats: number): void {
    const passed = nowMs - this.since;
    if (passed > 0) {
      this.sum += this.value * passed;
      this.squares += this.value * this.value * passed;
      this.since = nowMs;
    }
    this.value = seats;
    if (seats > this.top) this.top = seats;
  }

  /** Ends a period and updates the smoothed demand: it rises at once and falls slowly. */
  endPeriod(nowMs: number): void {
    this.set(nowMs, this.value);
    const lasted = Math.max(1, nowMs - this.begun);
    const mean = this.sum / lasted;
    const deviation = Math.sqrt(Math.max(0, this.squares / lasted - mean * mean));
    const seen = Math.min(this.top, mean + deviation);
    this.smooth = Math.max(seen, remembered * this.smooth + (1 - remembered) * seen);
    this.highest = this.top;
    this.top = this.value;
    this.begun = nowMs;
    this.sum = 0;
    this.squares = 0;
  }
}
