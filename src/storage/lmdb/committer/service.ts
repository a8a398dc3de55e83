import { createServer, type Socket } from "node:net";
import type { Store } from "../../store.ts";
import { sentError } from "./errors.ts";
import { encodeFrame, FrameReader, type CommitterAnswer, type CommitterRequest } from "./frames.ts";

/** A service that commits the writes of other processes. */
export interface CommitterService {
  /** Accepts no more requests, answers those that were received, and closes all connections. */
  close(): Promise<void>;
}

/**
 * Commits the writes that servers of the same folder send over a socket, so that the writes of all of them share transactions and syncs of
 * the disk.
 *
 * @param path path of the socket; its folder must be accessible to this user only.
 * @param failed called with the error of a connection that was closed because of it.
 */
export async function serveCommits(
  store: Store,
  path: string,
  failed: (error: unknown) => void,
): Promise<CommitterService> {
  const connections = new Set<Connection>();
  const server = createServer((socket) => {
    const connection = new Connection(store, socket, failed);
    connections.add(connection);
    socket.once("close", () => connections.delete(connection));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  server.on("error", failed);
  return {
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      await Promise.all([...connections].map((connection) => connection.close()));
      await closed;
    },
  };
}

/** The connection of one server. */
class Connection {
  private readonly frames = new FrameReader();
  /** Answers that are sent together at the end of this turn. */
  private answers: CommitterAnswer[] = [];
  private readonly pending = new Set<Promise<void>>();
  private closing = false;

  constructor(
    private readonly store: Store,
    private readonly socket: Socket,
    private readonly failed: (error: unknown) => void,
  ) {
    socket.on("data", (chunk: Buffer) => this.receive(chunk));
    socket.on("error", failed);
  }

  async close(): Promise<void> {
    this.closing = true;
    await Promise.all(this.pending);
    this.send();
    this.socket.end();
  }

  private receive(chunk: Buffer): void {
    if (this.closing) return;
    try {
      for (const request of this.frames.read(chunk) as CommitterRequest[]) {
        const answered = this.answer(request).then((answer) => {
          this.pending.delete(answered);
          // The writes of a batch end in the same turn.
          if (this.answers.push(answer) === 1) process.nextTick(() => this.send());
        });
        this.pending.add(answered);
      }
    } catch (error) {
      this.failed(error);
      this.socket.destroy();
    }
  }

  private async answer({ id, write }: CommitterRequest): Promise<CommitterAnswer> {
    try {
      if (write !== undefined) return { id, result: await this.store.commit(write) };
      const obstacle = await this.store.writeObstacle();
      return { id, error: obstacle && sentError(obstacle) };
    } catch (error) {
      return { id, error: sentError(error) };
    }
  }

  private send(): void {
    if (this.answers.length === 0 || this.socket.destroyed) return;
    this.socket.write(encodeFrame(this.answers));
    this.answers = [];
  }
}
