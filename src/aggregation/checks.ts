import type { Clock, Timer } from "../base/clock.ts";
import { Slots } from "./slots.ts";

/** Interval between checks of a key without changes. */
const intervalMs = 30_000;
/** Delay after a failed check; doubled after each further failure, up to the interval. */
const firstRetryMs = 1000;
/** Maximum number of concurrent checks. An unresponsive service takes five seconds, so about 200 fit into an interval. */
const atOnce = 40;

interface State {
  failures: number;
  running: boolean;
  /** Whether it changed during the check. */
  again: boolean;
  timer: Timer | undefined;
}

/** Checks keys when they change and periodically. Checks several keys concurrently, but never the same key twice at a time. */
export class Checks {
  private readonly states = new Map<string, State>();
  private readonly slots = new Slots(atOnce);
  private closed = false;

  /**
   * @param look checks a key and returns whether it succeeded. It must not reject.
   */
  constructor(
    private readonly clock: Clock,
    private readonly look: (key: string) => Promise<boolean>,
  ) {}

  /** Requests a check of a key, and then periodic checks until it is removed. */
  request(key: string): void {
    if (this.closed) return;
    let state = this.states.get(key);
    if (state === undefined) {
      state = { failures: 0, running: false, again: false, timer: undefined };
      this.states.set(key, state);
    }
    state.timer?.cancel();
    state.timer = undefined;
    if (state.running) state.again = true;
    else this.run(key, state);
  }

  forget(key: string): void {
    this.states.get(key)?.timer?.cancel();
    this.states.delete(key);
  }

  close(): void {
    this.closed = true;
    for (const key of this.states.keys()) this.forget(key);
  }

  private run(key: string, state: State): void {
    state.running = true;
    const work = async () => {
      // The key may have been removed while it waited.
      if (this.states.get(key) !== state) return;
      state.again = false;
      const good = await this.look(key);
      state.failures = good ? 0 : state.failures + 1;
    };
    this.slots.run(work).then(
      () => this.ended(key, state),
      () => this.ended(key, state),
    );
  }

  private ended(key: string, state: State): void {
    state.running = false;
    if (this.closed || this.states.get(key) !== state) return;
    if (state.again) return this.run(key, state);
    const delayMs =
      state.failures === 0 ? intervalMs : Math.min(intervalMs, firstRetryMs * 2 ** (state.failures - 1));
    state.timer = this.clock.setTimer(() => this.request(key), delayMs);
  }
}
