/** The members of a socket that are needed here. */
export interface WrittenConnection {
  /** All written bytes, including buffered ones. */
  readonly bytesWritten: number;
  /** Buffered bytes. */
  readonly writableLength: number;
  readonly destroyed: boolean;
  destroy(): unknown;
}

/** The buffered bytes of a connection at a check. */
interface Waiting {
  readonly look: number;
  /** The value of `bytesWritten` at which they are sent. */
  readonly upTo: number;
}

/**
 * Closes connections whose client doesn't read its response. It checks them at intervals, so that responses need no timers.
 */
export class SlowReaders {
  /** Connections with buffered bytes after a response or at the last check. */
  private readonly connections = new Map<WrittenConnection, Waiting | undefined>();
  private looks = 0;

  /**
   * @param takeMs time in which a client must read its response.
   * @param everyMs interval of {@link look}.
   */
  constructor(
    private readonly takeMs: number,
    private readonly everyMs: number,
  ) {}

  /** Must be called after a whole response is written. */
  sentTo(connection: WrittenConnection): void {
    if (connection.writableLength === 0 || this.connections.has(connection)) return;
    this.connections.set(connection, undefined);
  }

  /** Must be called when a streamed response starts; its writer handles clients that don't read. */
  streamsTo(connection: WrittenConnection): void {
    this.connections.delete(connection);
  }

  /** Closes connections whose bytes have been buffered for the whole time. */
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
