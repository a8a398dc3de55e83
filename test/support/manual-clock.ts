import type { Clock, Timer } from "../../src/base/time/clock.ts";

/** Time that only the test moves. Unless told otherwise it begins at the machine's time, so that certificates made now are good. */
export class ManualClock implements Clock {
  private wallOffset = 0;
  private readonly timers = new Set<{ readonly at: number; readonly task: () => void }>();

  /** @param time milliseconds since 1970-01-01T00:00:00Z. */
  constructor(private time = Date.now()) {}

  now(): number {
    return this.time + this.wallOffset;
  }

  monotonicNow(): number {
    return this.time;
  }

  /** Sets the wall clock forward (or back): no timer fires, and durations stay as they are. */
  setWall(byMs: number): void {
    this.wallOffset += byMs;
  }

  setTimer(task: () => void, delayMs: number): Timer {
    const timer = { at: this.time + delayMs, task };
    this.timers.add(timer);
    return { cancel: () => this.timers.delete(timer) };
  }

  /** How many timers wait. */
  get pending(): number {
    return this.timers.size;
  }

  /** How many timers wait to fire within a time. */
  due(withinMs: number): number {
    return [...this.timers].filter((timer) => timer.at <= this.time + withinMs).length;
  }

  /** Moves time on, firing what falls due in order, and lets what that begins run after each. */
  async advance(ms: number): Promise<void> {
    const end = this.time + ms;
    while (this.fireNext(end)) await settle();
    this.time = end;
    await settle();
  }

  /** Moves time on, firing what falls due in order, without a pause. */
  advanceAtOnce(ms: number): void {
    const end = this.time + ms;
    while (this.fireNext(end));
    this.time = end;
  }

  /** Moves time on in one leap, as on a machine that slept: what fell due meanwhile fires once, afterwards. */
  async leap(ms: number): Promise<void> {
    this.time += ms;
    const due = [...this.timers].filter(({ at }) => at <= this.time).toSorted((a, b) => a.at - b.at);
    for (const timer of due) if (this.timers.delete(timer)) timer.task();
    await settle();
  }

  /** Fires the timer that falls due next, if one does until then. */
  private fireNext(end: number): boolean {
    const next = [...this.timers]
      .filter(({ at }) => at <= end)
      .toSorted((a, b) => a.at - b.at)
      .at(0);
    if (next === undefined) return false;
    this.timers.delete(next);
    this.time = Math.max(this.time, next.at);
    next.task();
    return true;
  }
}

/** Lets everything that is ready to run do so. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}
