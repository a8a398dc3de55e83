import { systemClock } from "../../base/time/clock.ts";
import type { FaultyRequest } from "../../resources/engine/request-faults.ts";
import type { Store } from "../../storage/store.ts";
import { targetText } from "./fired-fault.ts";

/** How {@link Faults.settle} decides that everything is quiet. */
export interface SettleOptions {
  /**
   * Time without any request, watch event or write, in milliseconds of the machine's clock; 0 by default: turns of the event loop are enough for a
   * controller in the process that uses no timers. A controller in another process, or with timers of its own, needs more.
   */
  readonly quietMs?: number | undefined;
  /** Time in which it must become quiet, in milliseconds of the machine's clock; 10 seconds by default. */
  readonly withinMs?: number | undefined;
  /** Number of requests in which it must become quiet; 10,000 by default. */
  readonly maxRequests?: number | undefined;
}

/** Turns of the event loop without activity after which everything is quiet. */
const quietTurns = 12;

/** Turns of waiting after which the wait uses timers, so that it leaves the processor to others. */
const busyTurns = 2000;

/** Counts what happens on a server, to notice when it is quiet. */
export class Activity {
  /** Grows with each request and delivered event. */
  private steps = 0;
  /** Number of requests so far. */
  requestCount = 0;
  private lastRequest: FaultyRequest | undefined;
  /** Requests, deliveries and restarts that have begun and not ended. */
  private pending = 0;
  private failures: unknown[] = [];

  constructor(private readonly store: Store) {}

  /** Counts a step. */
  step(): void {
    this.steps++;
  }

  /** Counts a request; the result must be called when it ends. */
  request(request: FaultyRequest): () => void {
    this.requestCount++;
    this.lastRequest = request;
    return this.begin();
  }

  /** Counts work that has begun; the result must be called when it ends. */
  begin(): () => void {
    this.steps++;
    this.pending++;
    return () => {
      this.steps++;
      this.pending--;
    };
  }

  /** Records an error that the next {@link settle} throws. */
  failed(error: unknown): void {
    this.failures.push(error);
  }

  /** Drops the recorded errors. */
  clear(): void {
    this.failures = [];
  }

  /** @throws {Error} if it doesn't become quiet; the first recorded error. */
  async settle({ quietMs = 0, withinMs = 10_000, maxRequests = 10_000 }: SettleOptions): Promise<void> {
    const deadline = systemClock.monotonicNow() + withinMs;
    const firstRequest = this.requestCount;
    let last = await this.state();
    for (let turns = 0, quiet = 0; ; turns++) {
      await (turns < busyTurns ? turn() : pause(1));
      this.rethrow();
      const state = await this.state();
      quiet = state === last && this.pending === 0 ? quiet + 1 : 0;
      last = state;
      if (quiet >= quietTurns) {
        if (quietMs === 0) return;
        await pause(quietMs);
        if ((await this.state()) === last) return;
        quiet = 0;
      }
      const requests = this.requestCount - firstRequest;
      if (requests > maxRequests)
        throw new Error(
          `the server did not become quiet: more than ${maxRequests} requests (maxRequests)${this.lastText(requests)}`,
        );
      if (systemClock.monotonicNow() > deadline)
        throw new Error(
          `the server did not become quiet in ${withinMs} ms (withinMs): ${requests} requests${this.lastText(requests)}`,
        );
    }
  }

  /** Returns the last request for a message; empty if there was none. */
  private lastText(requests: number): string {
    const last = this.lastRequest;
    return requests === 0 || last === undefined ? "" : `, the last ${targetText(last)} by ${last.user}`;
  }

  private async state(): Promise<string> {
    return `${this.steps} ${await this.store.latestRevision()}`;
  }

  private rethrow(): void {
    if (this.failures.length > 0) throw this.failures.shift();
  }
}

/** Resolves in the next turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void systemClock.setTimer(resolve, ms));
}
