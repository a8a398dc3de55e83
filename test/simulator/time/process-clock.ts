import type { Clock, Timer } from "../../../src/base/time/clock.ts";
import type { Scheduler } from "./scheduler.ts";

/** The clock of one simulated process. Everything that happens to the process is a timer of this clock. */
export class ProcessClock implements Clock {
  private offsetMs = 0;
  private state: "running" | "frozen" | "dead" = "running";
  /** When the process last continued, in milliseconds since the start of the simulation. */
  private continuedMs = Number.NEGATIVE_INFINITY;
  /** What became due while the process was frozen. */
  private held: (() => void)[] = [];

  /** @param actor name of the process. */
  constructor(
    private readonly scheduler: Scheduler,
    readonly actor: string,
  ) {}

  now(): number {
    return Math.floor(this.scheduler.startMs + this.scheduler.nowMs + this.offsetMs);
  }

  monotonicNow(): number {
    return this.scheduler.nowMs;
  }

  setTimer(task: () => void, delayMs: number): Timer {
    if (this.state === "dead") return { cancel: () => undefined };
    let isCancelled = false;
    const run = (): void => {
      if (!isCancelled) task();
    };
    const timer = this.scheduler.after(this.actor, delayMs, () => this.due(run));
    return {
      cancel: () => {
        isCancelled = true;
        timer.cancel();
      },
    };
  }

  /** Sets the wall clock of the process forward, or back. */
  jump(byMs: number): void {
    this.offsetMs += byMs;
  }

  /** Holds timers and messages until {@link thaw}, as if the process were suspended. */
  freeze(): void {
    if (this.state === "running") this.state = "frozen";
  }

  /** Continues a frozen process: everything that became due meanwhile happens now. */
  thaw(): void {
    if (this.state !== "frozen") return;
    this.state = "running";
    this.continuedMs = this.scheduler.nowMs;
    const { held } = this;
    this.held = [];
    for (const task of held) this.scheduler.after(this.actor, 0, () => this.due(task));
  }

  /** Ends the process: nothing of it ever happens again. */
  kill(): void {
    this.state = "dead";
    this.held = [];
  }

  get isRunning(): boolean {
    return this.state === "running";
  }

  /** Whether the process continued less than a time ago, in milliseconds. */
  hasThawedWithin(ms: number): boolean {
    return this.scheduler.nowMs - this.continuedMs < ms;
  }

  private due(task: () => void): void {
    if (this.state === "running") task();
    else if (this.state === "frozen") this.held.push(task);
  }
}
