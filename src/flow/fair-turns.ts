import type { MaybePromise } from "../base/maybe-promise.ts";

/** Time and the next turn of the event loop, passed in for tests. */
export interface TurnSource {
  /** Milliseconds, with fractions. */
  nowMs(): number;
  /** Calls a task after what has come in meanwhile was looked at. */
  later(task: () => void): void;
}

/** The machine's own. */
export const eventLoop: TurnSource = {
  nowMs: () => performance.now(),
  later: (task) => void setImmediate(task),
};

/** So long requests are worked on before what waits at the sockets is looked at again. */
const budgetMs = 0.5;

/**
 * Shares one thread fairly. All requests that arrive together would be worked on one after the other, so that one user's
 * many would stand before another's one. Once a turn of the event loop has worked for a while, what arrives stands in line
 * instead, by user, and each of the next turns takes from the users in rotation.
 */
export class FairTurns {
  private readonly lines = new Map<string, (() => void)[]>();
  private inTurn = false;
  private turnStartMs = 0;
  private readonly endTurn = () => this.next();

  constructor(private readonly source: TurnSource = eventLoop) {}

  /**
   * Does the task, at once or in its turn.
   *
   * @param flow whose it is.
   * @param nowMs by the clock of the source; a little before counts too.
   */
  run<T>(flow: string, nowMs: number, task: () => MaybePromise<T>): MaybePromise<T> {
    if (!this.inTurn) {
      this.inTurn = true;
      this.turnStartMs = nowMs;
      this.source.later(this.endTurn);
      return task();
    }
    if (this.lines.size === 0 && nowMs - this.turnStartMs < budgetMs) return task();
    return new Promise<T>((resolve, reject) => {
      this.queue(flow, () => {
        try {
          resolve(task());
        } catch (error) {
          reject(error as Error);
        }
      });
    });
  }

  /** How many tasks wait. */
  get waiting(): number {
    let count = 0;
    for (const line of this.lines.values()) count += line.length;
    return count;
  }

  private queue(flow: string, task: () => void): void {
    const line = this.lines.get(flow);
    if (line === undefined) this.lines.set(flow, [task]);
    else line.push(task);
  }

  /** A turn is over: the next one begins with those in line, if there are any. */
  private next(): void {
    if (this.lines.size === 0) {
      this.inTurn = false;
      return;
    }
    this.turnStartMs = this.source.nowMs();
    this.source.later(this.endTurn);
    do this.takeOne();
    while (this.lines.size > 0 && this.source.nowMs() - this.turnStartMs < budgetMs);
  }

  /** The first task of the flow whose turn it is; the flow goes to the end. */
  private takeOne(): void {
    const [flow, line] = this.lines.entries().next().value!;
    const task = line.shift()!;
    this.lines.delete(flow);
    if (line.length > 0) this.lines.set(flow, line);
    task();
  }
}
