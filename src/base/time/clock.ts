/** The source of time. It is passed in so that tests control it. */
export interface Clock {
  /**
   * Milliseconds since 1970-01-01T00:00:00Z, for times that are stored, sent or compared with such times. It can be set forward or
   * back at any moment; durations and deadlines in memory are by {@link monotonicNow}.
   */
  now(): number;
  /**
   * Milliseconds since an arbitrary point, for measuring durations: never set back or forward with the wall clock. It may
   * stop while the machine sleeps.
   */
  monotonicNow(): number;
  /** Calls `task` once after `delayMs`, however long that is; the timer doesn't keep the process alive. */
  setTimer(task: () => void, delayMs: number): Timer;
}

/** A timer that can be cancelled. */
export interface Timer {
  cancel(): void;
}

/** The longest delay that Node's timers support; a longer one fires immediately. */
const longestDelayMs = 2 ** 31 - 1;

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicNow: () => performance.now(),
  setTimer(task, delayMs) {
    if (delayMs > longestDelayMs) return longTimer(task, delayMs);
    const handle = setTimeout(task, delayMs);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};

function longTimer(task: () => void, delayMs: number): Timer {
  const rest = () => {
    present = systemClock.setTimer(task, delayMs - longestDelayMs);
  };
  let present = systemClock.setTimer(rest, longestDelayMs);
  return { cancel: () => present.cancel() };
}

/** Returns a function that calls `call` at most once per `everyMs` milliseconds and drops the other calls. */
export function rarely<A extends unknown[]>(
  clock: Clock,
  everyMs: number,
  call: (...parameters: A) => void,
): (...parameters: A) => void {
  let next = Number.NEGATIVE_INFINITY;
  return (...parameters) => {
    if (clock.monotonicNow() < next) return;
    next = clock.monotonicNow() + everyMs;
    call(...parameters);
  };
}
