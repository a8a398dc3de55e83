import type { Timer } from "../../../src/base/time/clock.ts";

/** A task at a point in virtual time. */
interface ScheduledTask {
  readonly atMs: number;
  /** Order among tasks of one time. */
  readonly rank: number;
  /** Order of creation, of tasks of one actor at one time. */
  readonly serial: number;
  task: (() => void) | undefined;
}

/** The largest number of rounds of immediates at one time; more means that the code waits for something that never comes. */
const maxRounds = 100_000;

/**
 * Virtual time: one queue of tasks, ordered by time. Tasks of different actors at one time run in an order that depends on the seed;
 * those of one actor run in the order of their creation, as the timers of a process do. Between two tasks everything that is ready runs:
 * promise jobs, and the immediates that {@link immediate} receives.
 */
export class Scheduler {
  private heap: ScheduledTask[] = [];
  private immediates: (() => void)[] = [];
  private elapsedMs = 0;
  private serial = 0;
  private executed = 0;

  /**
   * @param startMs the time at the start, in milliseconds since 1970.
   * @param seed decides the order of tasks of different actors at one time.
   */
  constructor(
    readonly startMs: number,
    private readonly seed: number,
  ) {}

  /** Milliseconds since the start. */
  get nowMs(): number {
    return this.elapsedMs;
  }

  /** Number of tasks that have run. */
  get tasks(): number {
    return this.executed;
  }

  /** Calls a task of an actor after a delay in milliseconds. */
  after(actor: string, delayMs: number, task: () => void): Timer {
    const atMs = this.elapsedMs + Math.max(0, delayMs);
    const entry: ScheduledTask = { atMs, rank: this.rankOf(actor, atMs), serial: ++this.serial, task };
    this.push(entry);
    return { cancel: () => void (entry.task = undefined) };
  }

  /** Calls a task at the present time, after everything that is ready. */
  immediate(task: () => void): void {
    this.immediates.push(task);
  }

  /** Runs all tasks up to a time in milliseconds since the start, which is then the present time. */
  async runUntil(endMs: number): Promise<void> {
    await this.settle();
    for (let next = this.take(endMs); next !== undefined; next = this.take(endMs)) {
      this.elapsedMs = next.atMs;
      this.executed++;
      next.task!();
      await this.settle();
    }
    this.elapsedMs = Math.max(this.elapsedMs, endMs);
  }

  /**
   * Runs all tasks until a promise is settled.
   *
   * @throws {Error} if it isn't settled after a time in milliseconds; otherwise the error of the promise.
   */
  async runUntilSettled<T>(work: Promise<T>, limitMs: number): Promise<T> {
    let settled = false;
    const mark = (): void => void (settled = true);
    work.then(mark, mark);
    const endMs = this.elapsedMs + limitMs;
    await this.settle();
    while (!settled) {
      const next = this.take(endMs);
      if (next === undefined) throw new Error(`not settled after ${limitMs} ms of virtual time`);
      this.elapsedMs = next.atMs;
      this.executed++;
      next.task!();
      await this.settle();
    }
    return work;
  }

  /** Runs promise jobs and immediates until there are none. One turn of the real event loop runs all promise jobs. */
  private async settle(): Promise<void> {
    for (let round = 0; ; round++) {
      await new Promise<void>(realTurn);
      if (this.immediates.length === 0) return;
      if (round > maxRounds) throw new Error("immediates are added without end");
      const ready = this.immediates;
      this.immediates = [];
      for (const task of ready) task();
    }
  }

  private rankOf(actor: string, atMs: number): number {
    let hash = this.seed ^ Math.floor(atMs * 1000);
    for (let at = 0; at < actor.length; at++) hash = Math.imul(hash ^ actor.charCodeAt(at), 0x01000193);
    return (hash ^ (hash >>> 15)) >>> 0;
  }

  private push(entry: ScheduledTask): void {
    const { heap } = this;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(entry, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = entry;
  }

  /** Removes and returns the next task up to a time; drops cancelled ones. */
  private take(endMs: number): ScheduledTask | undefined {
    for (;;) {
      const first = this.heap[0];
      if (first === undefined || (first.task !== undefined && first.atMs > endMs)) return undefined;
      this.pop();
      if (first.task !== undefined) return first;
    }
  }

  private pop(): void {
    const { heap } = this;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(one: ScheduledTask, other: ScheduledTask): boolean {
  if (one.atMs !== other.atMs) return one.atMs < other.atMs;
  return one.rank === other.rank ? one.serial < other.serial : one.rank < other.rank;
}

/** The immediate of the process, taken before a simulation replaces it. */
const systemImmediate = setImmediate;
const realTurn = (resolve: () => void): void => void systemImmediate(resolve);
