import type { MaybePromise } from "../base/turns/maybe-promise.ts";

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

/** Queued items: first in, first out within a flow; the flows in rotation. */
export class Rotation<T> {
  private readonly lines = new Map<string, Line<T>>();
  /** The flow that is last in the rotation; undefined if the queue is empty. */
  private last: Line<T> | undefined;

  add(flow: string, item: T): void {
    const line = this.lines.get(flow);
    if (line === undefined) this.join(new Line(flow, item));
    else line.add(item);
  }

  /** Removes and returns the first item of the next flow, which then goes to the end. The queue must not be empty. */
  take(): T {
    const last = this.last!;
    const line = last.next;
    const item = line.take();
    if (!line.isEmpty) this.last = line;
    else {
      this.lines.delete(line.flow);
      last.next = line.next;
      if (line === last) this.last = undefined;
    }
    return item;
  }

  has(flow: string): boolean {
    return this.lines.has(flow);
  }

  get isEmpty(): boolean {
    return this.last === undefined;
  }

  private join(line: Line<T>): void {
    const { last } = this;
    if (last !== undefined) {
      line.next = last.next;
      last.next = line;
    }
    this.last = line;
    this.lines.set(line.flow, line);
  }
}

/** Removed items are freed once there are this many and at least half of all. */
const letGo = 32;

/** The queued items of one flow. */
class Line<T> {
  /** The next flow in the rotation, a circular list. */
  next: Line<T> = this;
  private readonly items: T[];
  private taken = 0;

  constructor(
    readonly flow: string,
    first: T,
  ) {
    this.items = [first];
  }

  get isEmpty(): boolean {
    return this.taken === this.items.length;
  }

  add(item: T): void {
    this.items.push(item);
  }

  take(): T {
    const item = this.items[this.taken++]!;
    if (this.taken >= letGo && 2 * this.taken >= this.items.length) {
      this.items.splice(0, this.taken);
      this.taken = 0;
    }
    return item;
  }
}

/** A connection that carries one request at a time (HTTP/1.1). */
export interface ReadableConnection {
  /** Stops reading from the client. */
  pause(): void;
  resume(): void;
}

/** After a longer turn of the event loop, the next turn resumes fewer connections. */
const longTurnMs = 0.15;
/** Paused connections that are resumed after a short turn and after a long turn. */
const readAgain = 2;
const readAgainSlowly = 1;

/** Several users count as active for this long after requests of two users alternated. */
const togetherMs = 1000;

/**
 * Reads from connections fairly. A turn of the event loop reads every readable connection, so that many requests of one user
 * precede the single request of another. While several users are active, all but one of a user's connections are paused after their
 * response, and each turn resumes a few of them, by user in rotation. A user's only connection is never paused.
 */
export class FairReading {
  private readonly unread = new Rotation<ReadableConnection>();
  private readonly answeredNow = new Map<string, ReadableConnection[]>();
  private lastFlow = "";
  private togetherUntilMs = Number.NEGATIVE_INFINITY;
  private inTurn = false;
  private turnStartMs = 0;
  private readonly endTurn = () => this.next();

  constructor(private readonly source: TurnSource = eventLoop) {}

  /**
   * Must be called after each response.
   *
   * @param flow name of the user.
   * @param nowMs time by the clock of the source, possibly some milliseconds ago.
   */
  answered(flow: string, nowMs: number, connection: ReadableConnection): void {
    if (flow !== this.lastFlow) {
      this.lastFlow = flow;
      this.togetherUntilMs = nowMs + togetherMs;
    }
    if (nowMs >= this.togetherUntilMs) return;
    const others = this.answeredNow.get(flow);
    // The first connection of a user in a turn isn't paused, unless other connections of this user are.
    if (others === undefined) this.answeredNow.set(flow, this.unread.has(flow) ? [connection] : []);
    else others.push(connection);
    this.schedule();
  }

  private schedule(): void {
    if (this.inTurn) return;
    this.inTurn = true;
    this.source.later(this.endTurn);
  }

  /** Ends a turn: pauses and resumes connections. */
  private next(): void {
    this.inTurn = false;
    const now = this.source.nowMs();
    const most = now - this.turnStartMs > longTurnMs ? readAgainSlowly : readAgain;
    this.turnStartMs = now;
    for (let count = 0; count < most && !this.unread.isEmpty; count++) this.unread.take().resume();
    for (const [flow, others] of this.answeredNow) {
      for (const connection of others) {
        connection.pause();
        this.unread.add(flow, connection);
      }
    }
    this.answeredNow.clear();
    if (!this.unread.isEmpty) this.schedule();
  }
}
