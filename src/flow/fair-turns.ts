import type { MaybePromise } from "../base/maybe-promise.ts";
import { Rotation } from "./rotation.ts";

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
  private readonly line = new Rotation<() => void>();
  private inTurn = false;
  private turnStartMs = 0;
  private readonly endTurn = () => this.next();
  private readonly work = () => this.workOn();

  /** @param together runs what was waiting, one after the other; all of it came before any of it is begun. */
  constructor(
    private readonly source: TurnSource = eventLoop,
    private readonly together: (work: () => void) => void = (work) => work(),
  ) {}

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
    if (this.line.isEmpty && nowMs - this.turnStartMs < budgetMs) return task();
    return new Promise<T>((resolve, reject) => {
      this.line.add(flow, () => {
        try {
          resolve(task());
        } catch (error) {
          reject(error as Error);
        }
      });
    });
  }

  /** A turn is over: the next one begins with those in line, if there are any. */
  private next(): void {
    if (this.line.isEmpty) {
      this.inTurn = false;
      return;
    }
    this.turnStartMs = this.source.nowMs();
    this.source.later(this.endTurn);
    this.together(this.work);
  }

  private workOn(): void {
    do this.line.take()();
    while (!this.line.isEmpty && this.source.nowMs() - this.turnStartMs < budgetMs);
  }
}
