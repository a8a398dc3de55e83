import type { Clock, Timer } from "../../base/time/clock.ts";
import type { KnownObjects } from "../../kinds/typed-objects.ts";
import type { ServerClient } from "../library/server-client.ts";
import type { Faults } from "../faults/faults.ts";
import type { SettleOptions } from "../faults/activity.ts";
import type { Server } from "../server.ts";
import { DueTimers } from "../../base/time/manual-clock.ts";

/**
 * Starts a controller.
 *
 * @param client its client, which faults affect.
 * @param clock its time: use it for pauses and periodic work instead of `setTimeout`, so that tests don't wait and can be repeated.
 * @returns nothing, or a promise. A promise that rejects is a controller that couldn't start; it is started again.
 */
export type ControllerStart<Objects = KnownObjects> = (
  client: ServerClient<Objects>,
  clock: Clock,
) => unknown;

/** The user of a controller. */
export interface ControllerUser {
  /** `controller` by default. */
  readonly user?: string | undefined;
  /** By default the administrators, who may do everything. */
  readonly groups?: readonly string[] | undefined;
}

/** How {@link Exploration.settle} waits. */
export interface ExplorationSettleOptions extends SettleOptions {
  /**
   * How far the controllers' clock may move on, in milliseconds; 60,000 by default.
   */
  readonly advanceMs?: number | undefined;
}

/** One run of a test under one schedule of faults. */
export interface Exploration<Objects = KnownObjects> {
  readonly server: Server<Objects>;
  /** The client of the test; faults don't affect it. */
  readonly client: ServerClient<Objects>;
  /** The faults of the schedule; the test may add rules. */
  readonly faults: Faults;
  readonly seed: number;
  /**
   * Starts a controller, and again after each of its crashes.
   *
   * @example
   * start((client, clock) => runController(client, clock));
   */
  start(controller: ControllerStart<Objects>, user?: ControllerUser): void;
  /**
   * Waits until there are no requests, watch events, writes and due timers of controllers; their clock moves on as needed.
   *
   * @throws {Error} if it doesn't become quiet: in 10 seconds, or in 2,000 requests, because a controller repeats them without end.
   */
  settle(options?: ExplorationSettleOptions): Promise<void>;
}

/** Number of starts after which a controller that can't start fails the test. */
const maxStarts = 50;
const settleRequests = 2000;
const settleAdvanceMs = 60_000;

/** Creates the run of a test. @param administrators the group of the administrators. */
export function newExploration<Objects>(
  server: Server<Objects>,
  seed: number,
  { startMs, administrators }: { readonly startMs: number; readonly administrators: string },
): Exploration<Objects> {
  const time = new VirtualTime(startMs);
  const { client, faults } = server;
  return {
    server,
    client,
    faults,
    seed,
    start(controller, { user = "controller", groups = [administrators] } = {}) {
      const launch = () =>
        controllerLauncher({ faults, time, user }, (clock) => {
          return controller(server.as(user, groups), clock);
        });
      launch();
    },
    settle: (options) => settle(faults, time, options),
  };
}

/** Starts a controller now and after each crash. */
function controllerLauncher(
  { faults, time, user }: { readonly faults: Faults; readonly time: VirtualTime; readonly user: string },
  controller: (clock: Clock) => unknown,
): void {
  let starts = 0;
  let clock: ControllerClock | undefined;
  const launch = async (): Promise<void> => {
    clock?.stop();
    if (++starts > maxStarts)
      throw new Error(`the controller of ${JSON.stringify(user)} did not start in ${maxStarts} attempts`);
    clock = new ControllerClock(time);
    const life = faults.requests.lifeOf(user);
    try {
      await controller(clock);
    } catch {
      // A controller that can't start ends, and is started again.
      if (faults.requests.lifeOf(user) === life) faults.crash(user);
    }
  };
  faults.onCrash(user, () => void launch().catch((error: unknown) => faults.failed(error)));
  void launch().catch((error: unknown) => faults.failed(error));
}

async function settle(
  faults: Faults,
  time: VirtualTime,
  { advanceMs = settleAdvanceMs, maxRequests = settleRequests, ...rest }: ExplorationSettleOptions = {},
): Promise<void> {
  const latestMs = time.passedMs + advanceMs;
  const first = faults.requestCount;
  do await faults.settle({ ...rest, maxRequests: first + maxRequests - faults.requestCount });
  while (time.runNext(latestMs));
}

/** Time that passes only when the test lets it. */
class VirtualTime {
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
class ControllerClock implements Clock {
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
