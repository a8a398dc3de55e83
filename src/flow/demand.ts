/** How slowly the demand that was seen is forgotten: what is left of it after one period. */
const remembered = 0.9775;

/** Measures how many seats a level would use if it could, over one period after the other. */
export class Demand {
  private value = 0;
  private since: number;
  private begun: number;
  private sum = 0;
  private squares = 0;
  private top = 0;
  /** What is expected, smoothed over the periods. */
  smooth = 0;
  /** The most seats in the last period that ended. */
  highest = 0;

  /** @param nowMs milliseconds, as in all other calls. */
  constructor(nowMs: number) {
    this.since = nowMs;
    this.begun = nowMs;
  }

  /** From now on so many seats are wanted. */
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

  /** Ends a period, and takes what was seen into what is expected: more at once, less little by little. */
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
