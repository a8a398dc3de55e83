import type { Clock, Timer } from "../base/clock.ts";
import { Slots } from "./slots.ts";

/** A key is looked at again after this time, though nothing has changed. */
const intervalMs = 30_000;
/** After a failure it is looked at again after this time, then after twice as long, and so on, up to the interval. */
const firstRetryMs = 1000;
/** So many keys are looked at at a time. A silent service takes five seconds: two hundred of them have their turn in each interval. */
const atOnce = 40;

interface State {
  failures: number;
  running: boolean;
  /** Whether it changed while it was looked at. */
  again: boolean;
  timer: Timer | undefined;
}

/** Looks at keys when they change, and from time to time; several at once, each of them never twice at a time. */
export class Checks {
  private readonly states = new Map<string, State>();
  private readonly slots = new Slots(atOnce);
  private closed = false;

  /**
   * @param look gives whether the key is in order. It must not reject.
   */
  constructor(
    private readonly clock: Clock,
    private readonly look: (key: string) => Promise<boolean>,
  ) {}

  /** Has a key looked at soon, and from then on until it is forgotten. */
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
      // It may have been forgotten while it waited.
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
