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
 * Shares one thread fairly. What arrives stands in line, by user, until all sockets were looked at; then it is worked on
 * for a while, taking from the users in rotation, before they are looked at again. So no user's many requests stand before
 * another's one; and to do the same for many requests, one right after the other, costs much less than to do all for each.
 * Of the long steps of large requests, one is done in each turn, after the tasks.
 */
export class FairTurns {
  private readonly line = new Rotation<() => void>();
  private readonly longSteps = new Rotation<() => void>();
  private turnIsComing = false;
  private readonly turn = () => this.begin();
  private readonly work = () => this.workOn();

  /** @param together runs what was waiting, one after the other; all of it came before any of it is begun. */
  constructor(
    private readonly source: TurnSource = eventLoop,
    private readonly together: (work: () => void) => void = (work) => work(),
  ) {}

  /**
   * Does the task in its turn.
   *
   * @param flow whose it is.
   */
  run<T>(flow: string, task: () => MaybePromise<T>): Promise<T> {
    this.callTurn();
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

  /**
   * Resolves when it is the flow's turn to do a step that may take many milliseconds. The step is to be done at once.
   *
   * @param flow whose it is.
   */
  longStep(flow: string): Promise<void> {
    this.callTurn();
    return new Promise((resolve) => this.longSteps.add(flow, resolve));
  }

  private callTurn(): void {
    if (this.turnIsComing) return;
    this.turnIsComing = true;
    this.source.later(this.turn);
  }

  private begin(): void {
    this.turnIsComing = false;
    if (!this.line.isEmpty) this.together(this.work);
    if (!this.longSteps.isEmpty) this.longSteps.take()();
    if (!this.line.isEmpty || !this.longSteps.isEmpty) this.callTurn();
  }

  private workOn(): void {
    const end = this.source.nowMs() + budgetMs;
    do this.line.take()();
    while (!this.line.isEmpty && this.source.nowMs() < end);
  }
}
