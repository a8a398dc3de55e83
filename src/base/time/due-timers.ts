import type { Timer } from "./clock.ts";

/** A task at a time in milliseconds. */
interface DueTimer {
  readonly atMs: number;
  readonly task: () => void;
}

/** The timers of a clock that a program moves. */
export class DueTimers {
  private readonly timers = new Set<DueTimer>();

  /** Adds a timer. */
  add(task: () => void, atMs: number): Timer {
    const timer = { atMs, task };
    this.timers.add(timer);
    return { cancel: () => void this.timers.delete(timer) };
  }

  /** Removes and returns the timer that is due first, of equal ones the oldest; undefined if none is due until a time. */
  take(latestMs: number): DueTimer | undefined {
    let next: DueTimer | undefined;
    for (const timer of this.timers) {
      if (timer.atMs <= latestMs && (next === undefined || timer.atMs < next.atMs)) next = timer;
    }
    if (next !== undefined) this.timers.delete(next);
    return next;
  }
}
