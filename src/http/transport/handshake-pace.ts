import type { Socket } from "node:net";
import { eventLoop, type TurnSource, Rotation } from "../../flow/fair-turns.ts";
import type { HandlerGuard } from "./http-exchange.ts";

/** Connections that begin their handshakes in one turn of the event loop: a handshake takes about half a millisecond. */
const handshakesPerTurn = 4;

/** A connection that waits for its handshake. */
interface Waiting {
  readonly socket: Socket;
  readonly begin: () => void;
}

/**
 * Begins only a few TLS handshakes in each turn of the event loop, by client address in rotation. Otherwise thousands of clients that
 * connect again at once, as after a restart, would delay all other requests until the last handshake.
 */
export class HandshakePace {
  private readonly waiting = new Rotation<Waiting>();
  private begun = 0;
  private turnIsComing = false;

  constructor(
    private readonly guard: HandlerGuard,
    private readonly source: TurnSource = eventLoop,
  ) {}

  /** Calls `begin` at once, or in a later turn if the connection is still open then. */
  add(socket: Socket, begin: () => void): void {
    this.callTurn();
    if (this.begun < handshakesPerTurn && this.waiting.isEmpty) {
      this.begun++;
      begin();
      return;
    }
    const ends = (): unknown => socket.destroy();
    this.guard.once(socket, "error", ends, socket);
    this.waiting.add(socket.remoteAddress ?? "", { socket, begin });
  }

  private callTurn(): void {
    if (this.turnIsComing) return;
    this.turnIsComing = true;
    this.source.later(() => this.turn());
  }

  private turn(): void {
    this.turnIsComing = false;
    this.begun = 0;
    while (this.begun < handshakesPerTurn && !this.waiting.isEmpty) {
      const { socket, begin } = this.waiting.take();
      if (socket.destroyed) continue;
      this.begun++;
      this.guard.run("connection", begin, socket);
    }
    if (this.begun > 0) this.callTurn();
  }
}
