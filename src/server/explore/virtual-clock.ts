import type { Clock, Timer } from "../../base/time/clock.ts";
import { DueTimers } from "../../base/time/due-timers.ts";

/** Time that passes only when the test lets it. */
export class VirtualTime {
  private elapsedMs = 0;
  private readonly timers = new DueTimers();

  /** @param startMs the time at the start, in milliseconds since 1970. */
  constructor(private readonly startMs: number) {}

  get nowMs(): number {
    return this.startMs + this.elapsedMs;
  }

  /** Milliseconds since the start. */
  get passedMs(): number {
    return this.elapsedMs;
  }

  /** Adds a timer. */
  add(task: () => void, delayMs: number): Timer {
    return this.timers.add(task, this.elapsedMs + Math.max(0, delayMs));
  }

  /**
   * Moves on to the timer that is due next, and runs it.
   *
   * @param latestMs time up to which it may move on, in milliseconds since the start.
   * @returns false if no timer is due until then.
   */
  runNext(latestMs: number): boolean {
    const next = this.timers.take(latestMs);
    if (next === undefined) return false;
    this.elapsedMs = Math.max(this.elapsedMs, next.atMs);
    next.task();
    return true;
  }
}

/** The clock of one life of a controller: its timers end when the controller crashes. */
export class ControllerClock implements Clock {
  private readonly open = new Set<Timer>();
  private isStopped = false;

  constructor(private readonly time: VirtualTime) {}

  now(): number {
    return this.time.nowMs;
  }

  monotonicNow(): number {
    return this.time.passedMs;
  }

  setTimer(task: () => void, delayMs: number): Timer {
    if (this.isStopped) return { cancel: () => undefined };
    const run = () => {
      this.open.delete(timer);
      task();
    };
    const timer = this.time.add(run, delayMs);
    this.open.add(timer);
    return {
      cancel: () => {
        this.open.delete(timer);
        timer.cancel();
      },
    };
  }

  /** Cancels all timers; new ones never fire. */
  stop(): void {
    this.isStopped = true;
    for (const timer of this.open) timer.cancel();
    this.open.clear();
  }
}
