import type { Clock, Timer } from "../base/time/clock.ts";

/** Repeats a task with a pause after each run, on the given clock. */
export class Periodic {
  private timer: Timer | undefined;
  private running: Promise<void> | undefined;
  private stopped = false;

  /**
   * @param failed called when a run fails; the next run is scheduled anyway.
   * @param pauseMs from the end of one run to the start of the next.
   */
  constructor(
    private readonly clock: Clock,
    private readonly pauseMs: number,
    private readonly task: () => Promise<void>,
    private readonly failed: (error: unknown) => void = () => undefined,
  ) {
    this.schedule();
  }

  /** Stops the repetition; resolves when a running task has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.timer?.cancel();
    await this.running;
  }

  private schedule(): void {
    this.timer = this.clock.setTimer(() => {
      this.running = this.task()
        .catch((error: unknown) => this.failed(error))
        .finally(() => {
          this.running = undefined;
          if (!this.stopped) this.schedule();
        });
    }, this.pauseMs);
  }
}
