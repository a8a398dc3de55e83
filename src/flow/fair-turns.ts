import type { MaybePromise } from "../base/turns/maybe-promise.ts";
import { Rotation } from "./rotation.ts";

/** The clock and the event loop; replaced in tests. */
export interface TurnSource {
  /** Milliseconds, with fractions. */
  nowMs(): number;
  /** Calls a task after the event loop has read its sockets. */
  later(task: () => void): void;
}

/** The event loop of this process. */
export const eventLoop: TurnSource = {
  nowMs: () => performance.now(),
  later: (task) => void setImmediate(task),
};

/** Milliseconds for which tasks run before the event loop reads its sockets again. */
const budgetMs = 0.5;

/**
 * Shares one thread between users. Requests are queued by user until all sockets are read; then tasks run for a while, by user in
 * rotation, before the sockets are read again. So many requests of one user don't delay another user's request, and the same stage
 * runs for many requests in a row, which is faster. One long step of a large request runs in each turn, after the tasks.
 */
export class FairTurns {
  private readonly line = new Rotation<() => void>();
  private readonly longSteps = new Rotation<() => void>();
  private turnIsComing = false;
  private readonly turn = () => this.begin();
  private readonly work = () => this.workOn();

  /** @param together runs the tasks of one turn, all of which were queued before the turn began. */
  constructor(
    private readonly source: TurnSource = eventLoop,
    private readonly together: (work: () => void) => void = (work) => work(),
  ) {}

  /**
   * Runs a task in its turn.
   *
   * @param flow name of the user.
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
   * Resolves when the flow may run a step that takes many milliseconds; the caller must run it at once.
   *
   * @param flow name of the user.
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
