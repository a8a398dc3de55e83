import type { Clock, Timer } from "../base/time/clock.ts";

/** Limits of a {@link CallQueue}. */
export interface CallQueueLimits {
  /** Maximum number of concurrent calls. */
  readonly running: number;
  /** Maximum running calls of one source; calls with precedence aren't limited by it. */
  readonly runningPerSource: number;
  /** Maximum number of waiting calls. */
  readonly waiting: number;
  /** Maximum waiting calls of one source. */
  readonly waitingPerSource: number;
  /** Time in milliseconds after which a waiting call is rejected. */
  readonly waitMs: number;
}

/** The origin of a call. */
export interface CallOrigin {
  /** Calls of different sources alternate; usually the client's network. */
  readonly source: string;
  /** Calls of different connections of a source alternate; undefined counts as one connection. */
  readonly connection: object | undefined;
  /** Whether the call runs before all calls without precedence. */
  readonly precedence: boolean;
}

/** A call was rejected because too many were waiting, or because it waited for too long. */
export class CallRefusedError extends Error {
  override name = "CallRefusedError";
}

interface Waiting {
  readonly origin: CallOrigin;
  readonly start: () => void;
  readonly refuse: () => void;
  readonly timer: Timer;
}

/**
 * Limits the calls to a slow service on behalf of clients. Scheduling is round-robin over sources and over
 * the connections of a source, so a client with many calls only delays itself. When the queue is full, the newest call of
 * the source with the most waiting calls is rejected.
 */
export class CallQueue {
  private running = 0;
  private readonly runningBySource = new Map<string, number>();
  /** Waiting calls: those with precedence, and the others. */
  private readonly first = new Turns();
  private readonly others = new Turns();

  constructor(
    private readonly clock: Clock,
    private readonly limits: CallQueueLimits,
  ) {}

  /**
   * Makes a call when it is scheduled.
   *
   * @throws {CallRefusedError} the call was not made. Errors of the call itself are passed on.
   */
  async run<T>(origin: CallOrigin, call: () => Promise<T>): Promise<T> {
    if (!this.mayStart(origin)) await this.wait(origin);
    else this.started(origin);
    try {
      return await call();
    } finally {
      this.ended(origin);
    }
  }

  /** Calls that wait. */
  get waiting(): number {
    return this.first.size + this.others.size;
  }

  private mayStart({ source, precedence }: CallOrigin): boolean {
    if (this.running >= this.limits.running) return false;
    return precedence || (this.runningBySource.get(source) ?? 0) < this.limits.runningPerSource;
  }

  private started({ source }: CallOrigin): void {
    this.running++;
    this.runningBySource.set(source, (this.runningBySource.get(source) ?? 0) + 1);
  }

  private ended({ source }: CallOrigin): void {
    this.running--;
    const left = this.runningBySource.get(source)! - 1;
    if (left === 0) this.runningBySource.delete(source);
    else this.runningBySource.set(source, left);
    this.startNext();
  }

  private wait(origin: CallOrigin): Promise<void> {
    const { waitMs } = this.limits;
    const turns = origin.precedence ? this.first : this.others;
    return new Promise((resolve, reject) => {
      const refuse = (why: string) => {
        entry.timer.cancel();
        reject(new CallRefusedError(why));
      };
      const late = () => {
        turns.remove(entry);
        refuse(`no turn came within ${waitMs} ms`);
      };
      const entry: Waiting = {
        origin,
        start: () => {
          entry.timer.cancel();
          resolve();
        },
        refuse: () => refuse("too many calls wait"),
        timer: this.clock.setTimer(late, waitMs),
      };
      turns.add(entry);
      this.refuseExcess(turns, origin.source);
    });
  }

  private refuseExcess(turns: Turns, source: string): void {
    const { waiting, waitingPerSource } = this.limits;
    if (turns.sizeOf(source) > waitingPerSource) turns.removeNewestOf(source).refuse();
    else if (this.waiting > waiting) {
      const from = this.others.size > 0 ? this.others : this.first;
      from.removeNewestOf(from.largestSource()).refuse();
    }
  }

  private startNext(): void {
    const next =
      this.first.take((source) => this.mayStart({ source, connection: undefined, precedence: true })) ??
      this.others.take((source) => this.mayStart({ source, connection: undefined, precedence: false }));
    if (next === undefined) return;
    this.started(next.origin);
    next.start();
  }
}

/** Waiting calls of one source by connection; the first connection is next. */
type Source = Map<object | undefined, Waiting[]>;

/** Waiting calls. The maps are ordered: a source or connection moves to the end when its call starts. */
class Turns {
  private readonly sources = new Map<string, Source>();
  private readonly sizes = new Map<string, number>();
  size = 0;

  sizeOf(source: string): number {
    return this.sizes.get(source) ?? 0;
  }

  add(call: Waiting): void {
    const { source, connection } = call.origin;
    let connections = this.sources.get(source);
    if (connections === undefined) this.sources.set(source, (connections = new Map()));
    const calls = connections.get(connection);
    if (calls === undefined) connections.set(connection, [call]);
    else calls.push(call);
    this.count(source, 1);
  }

  /** Removes and returns the next call of the sources that may start one; undefined if there is none. */
  take(mayStart: (source: string) => boolean): Waiting | undefined {
    for (const [source, connections] of this.sources) {
      if (!mayStart(source)) continue;
      const [connection, calls] = connections.entries().next().value!;
      const call = calls.shift()!;
      connections.delete(connection);
      if (calls.length > 0) connections.set(connection, calls);
      this.sources.delete(source);
      if (connections.size > 0) this.sources.set(source, connections);
      this.count(source, -1);
      return call;
    }
    return undefined;
  }

  /** Removes and returns the newest call of the source's connection with the most waiting calls. */
  removeNewestOf(source: string): Waiting {
    const calls = largest(this.sources.get(source)!.values(), ({ length }) => length);
    const call = calls.at(-1)!;
    this.remove(call);
    return call;
  }

  largestSource(): string {
    return largest(this.sizes, ([, size]) => size)[0];
  }

  remove(call: Waiting): void {
    const { source, connection } = call.origin;
    const connections = this.sources.get(source)!;
    const calls = connections.get(connection)!;
    calls.splice(calls.lastIndexOf(call), 1);
    if (calls.length === 0) connections.delete(connection);
    if (connections.size === 0) this.sources.delete(source);
    this.count(source, -1);
  }

  private count(source: string, change: number): void {
    this.size += change;
    const size = this.sizeOf(source) + change;
    if (size === 0) this.sizes.delete(source);
    else this.sizes.set(source, size);
  }
}

/** Returns the first item with the largest size. */
function largest<T>(values: Iterable<T>, sizeOf: (value: T) => number): T {
  let result: T | undefined;
  for (const value of values) if (result === undefined || sizeOf(value) > sizeOf(result)) result = value;
  return result!;
}
