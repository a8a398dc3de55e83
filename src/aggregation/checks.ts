import type { Clock, Timer } from "../base/time/clock.ts";
import { Slots } from "./slots.ts";

/** Interval of checks without changes. */
const intervalMs = 30_000;
/** Delay after the first failure; it doubles up to the interval. */
const firstRetryMs = 1000;
/** Maximum concurrent checks. A silent service takes 5 s, so an interval has time for about 200 of them. */
const atOnce = 40;

interface State {
  failures: number;
  running: boolean;
  /** Whether a check was requested while one was running. */
  again: boolean;
  timer: Timer | undefined;
}

/** Checks keys on request and periodically; several at once, but never the same key concurrently. */
export class Checks {
  private readonly states = new Map<string, State>();
  private readonly slots = new Slots(atOnce);
  private closed = false;

  /**
   * @param look resolves to whether the check passed; must not reject.
   */
  constructor(
    private readonly clock: Clock,
    private readonly look: (key: string) => Promise<boolean>,
  ) {}

  /** Checks a key as soon as possible, then periodically until {@link forget}. */
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
