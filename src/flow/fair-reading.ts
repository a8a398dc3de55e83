import { eventLoop, type TurnSource } from "./fair-turns.ts";
import { Rotation } from "./rotation.ts";

/** A connection on which one request comes after the other's answer. */
export interface ReadableConnection {
  /** Leaves what the client sends where it is, unread. */
  pause(): void;
  resume(): void;
}

/** A turn of the event loop that took longer is followed by one that reads less. */
const longTurnMs = 0.15;
/** So many connections that were left unread are read again after a short turn, and after a long one. */
const readAgain = 2;
const readAgainSlowly = 1;

/** So long after the requests of two users came between each other, several are taken to be at work. */
const togetherMs = 1000;

/**
 * Shares the reading of connections fairly. A turn of the event loop reads every connection on which something came, so
 * that one user's many requests stand before another's one, whatever is done with them then. While several users are at
 * work, a user's further connections are left unread once they are answered, and each turn reads a few of them again,
 * by user in rotation. A user with one connection is always read.
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
   * A request was answered.
   *
   * @param flow whose it was.
   * @param nowMs by the clock of the source; a little before counts too.
   */
  answered(flow: string, nowMs: number, connection: ReadableConnection): void {
    if (flow !== this.lastFlow) {
      this.lastFlow = flow;
      this.togetherUntilMs = nowMs + togetherMs;
    }
    if (nowMs >= this.togetherUntilMs) return;
    const others = this.answeredNow.get(flow);
    // A user's first in a turn is read on, unless others of the same user wait for that.
    if (others === undefined) this.answeredNow.set(flow, this.unread.has(flow) ? [connection] : []);
    else others.push(connection);
    this.schedule();
  }

  private schedule(): void {
    if (this.inTurn) return;
    this.inTurn = true;
    this.source.later(this.endTurn);
  }

  /** What was read in a turn is answered, as far as it could be: who is read in the next one. */
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
