import { eventLoop, type TurnSource } from "./fair-turns.ts";
import { Rotation } from "./rotation.ts";

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
