/** A connection as far as it is looked after here. */
export interface WrittenConnection {
  /** All bytes that were ever written, those that wait included. */
  readonly bytesWritten: number;
  /** Bytes that were written and not yet taken. */
  readonly writableLength: number;
  readonly destroyed: boolean;
  destroy(): unknown;
}

/** What a connection had waiting at a look. */
interface Waiting {
  readonly look: number;
  /** When so many bytes are taken, it is out. */
  readonly upTo: number;
}

/**
 * Breaks connections off on which a client doesn't take its answer. They are looked at now and then, so that an answer
 * costs no timer.
 */
export class SlowReaders {
  /** The connections that had an answer waiting when it was sent, or at the last look. */
  private readonly connections = new Map<WrittenConnection, Waiting | undefined>();
  private looks = 0;

  /**
   * @param takeMs in which an answer must be taken.
   * @param everyMs how often {@link look} is called.
   */
  constructor(
    private readonly takeMs: number,
    private readonly everyMs: number,
  ) {}

  /** A whole answer was handed over to the connection. */
  sentTo(connection: WrittenConnection): void {
    if (connection.writableLength === 0 || this.connections.has(connection)) return;
    this.connections.set(connection, undefined);
  }

  /** An answer is written to the connection bit by bit: who does that sees to a client that doesn't take it. */
  streamsTo(connection: WrittenConnection): void {
    this.connections.delete(connection);
  }

  /** Breaks off whoever has left an answer waiting for its time since the look that found it. */
  look(): void {
    this.looks++;
    for (const [connection, waiting] of this.connections) {
      const { bytesWritten, writableLength } = connection;
      if (connection.destroyed || writableLength === 0) this.connections.delete(connection);
      else if (waiting === undefined || bytesWritten - writableLength >= waiting.upTo) {
        this.connections.set(connection, { look: this.looks, upTo: bytesWritten });
      } else if ((this.looks - waiting.look) * this.everyMs >= this.takeMs) connection.destroy();
    }
  }
}
