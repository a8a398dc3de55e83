import { systemClock, type Clock, type Timer } from "./clock.ts";

/** A clock that only the program moves, for tests; {@link manualClock} creates it. */
export interface ManualClock extends Clock {
  /**
   * Moves the time forward, runs the timers that become due, in the order of their times, and lets the work that each of them starts run.
   * Calls run one after the other.
   *
   * It doesn't wait for the disk, the network or other processes; wait for their effects, for example with `waitFor`.
   *
   * @param ms milliseconds, at least 0.
   * @throws {RangeError} if `ms` isn't a number of at least 0; or the error of a timer, and the time stays at that timer.
   *
   * @example
   * await server.clock.advance(3_600_000);
   */
  advance(ms: number): Promise<void>;
}

/**
 * Creates a clock for `createServer({ clock })` whose time changes only with `advance`. Everything in the server that expires or
 * recurs follows it: leases, tokens, events, history, the time limits of watches. Durations in metrics and logs are real.
 *
 * @param startMs the time in milliseconds since 1970-01-01T00:00:00Z; by default that of the machine. A server with a socket issues its
 *   certificates at this time, and clients compare them with the time of their own machine.
 *
 * @example
 * const server = await createServer({ port: false, clock: manualClock(Date.parse("2030-01-01T00:00:00Z")) });
 * await server.clock.advance(60_000);
 */
export function manualClock(startMs: number = systemClock.now()): ManualClock {
  if (!Number.isFinite(startMs))
    throw new RangeError(
      `the start of a manual clock must be a number of milliseconds, not ${String(startMs)}`,
    );
  return new ProgramClock(startMs);
}

/** Number of turns of the event loop in which the work that a timer starts can continue. */
const turnsPerTimer = 10;

/** Implements {@link ManualClock}. */
class ProgramClock implements ManualClock {
  private readonly timers = new DueTimers();
  /** The last call of {@link advance}. */
  private moving: Promise<void> = Promise.resolve();

  constructor(private timeMs: number) {}

  now(): number {
    return this.timeMs;
  }

  monotonicNow(): number {
    return this.timeMs;
  }

  setTimer(task: () => void, delayMs: number): Timer {
    return this.timers.add(task, this.timeMs + Math.max(0, delayMs));
  }

  async advance(ms: number): Promise<void> {
    if (!(typeof ms === "number" && ms >= 0))
      throw new RangeError(`advance: the time must be at least 0 milliseconds, not ${String(ms)}`);
    const move = () => this.move(ms);
    // An earlier call that failed doesn't fail this one.
    const done = this.moving.then(move, move);
    this.moving = done;
    return done;
  }

  private async move(ms: number): Promise<void> {
    const endMs = this.timeMs + ms;
    // Work that is ready now may set timers.
    await settle();
    for (let timer = this.timers.take(endMs); timer !== undefined; timer = this.timers.take(endMs)) {
      this.timeMs = Math.max(this.timeMs, timer.atMs);
      timer.task();
      await settle();
    }
    this.timeMs = endMs;
    await settle();
  }
}

/** Lets everything that is ready to run do so. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < turnsPerTimer; turn++) {
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
}

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
