import { createServer, type Socket } from "node:net";
import { discardUnreadable } from "../../discard.ts";
import type { Store, Subscription } from "../../store.ts";
import { sentError } from "./errors.ts";
import { encodeFrame, FrameReader } from "./frames.ts";
import { type CommitterMessage, type CommitterRequest, decodeRequests, encodeMessage } from "./messages.ts";

/** Delay before the service subscribes to the store again. */
const resubscribeMs = 100;

/** A service that commits the writes of other processes. */
export interface CommitterService {
  /** Accepts no more requests, answers those that were received, and closes all connections. */
  close(): Promise<void>;
}

/**
 * Commits the writes that servers of the same folder send over a socket, so that the writes of all of them share transactions and syncs of
 * the disk. Notifies all of them of each commit.
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
    // In a child of a cluster, the parent would accept the connections: it keeps one open without an owner if this process is killed then.
    server.listen({ path, exclusive: true }, resolve);
  });
  server.on("error", failed);
  const changes = followChanges(
    store,
    () => {
      for (const connection of connections) connection.notify();
    },
    failed,
  );
  return {
    async close() {
      changes.close();
      const closed = new Promise((resolve) => server.close(resolve));
      await Promise.all([...connections].map((connection) => connection.close()));
      await closed;
    },
  };
}

/** Calls back when any process has committed, before the writes are acknowledged. */
function followChanges(
  store: Store,
  changed: () => void,
  failed: (error: unknown) => void,
): { close(): void } {
  let subscription: Subscription | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const subscribe = async () => {
    const after = await store.latestRevision();
    if (closed) return;
    changed();
    subscription = store.subscribe({ prefix: "/", after }, { events: changed, ended });
  };
  const ended = (error: unknown) => {
    if (closed) return;
    failed(error);
    timer = setTimeout(() => void subscribe().catch(ended), resubscribeMs);
  };
  subscribe().catch(ended);
  return {
    close() {
      closed = true;
      clearTimeout(timer);
      subscription?.close();
    },
  };
}

/** The connection of one server. */
class Connection {
  private readonly frames = new FrameReader();
  /** Messages that are sent together at the end of this turn. */
  private messages: Buffer[] = [];
  private readonly pending = new Set<Promise<void>>();
  private closing = false;
  /** Whether a change was not reported because the server doesn't read. */
  private missedChange = false;

  constructor(
    private readonly store: Store,
    private readonly socket: Socket,
    private readonly failed: (error: unknown) => void,
  ) {
    socket.on("data", (chunk: Buffer) => this.receive(chunk));
    // A server that ends may leave messages unread.
    socket.on("error", () => socket.destroy());
    socket.on("drain", () => this.missedChange && this.notify());
    this.notify();
  }

  /**
   * Reports that some process has committed; to a server that doesn't read, only when it reads again. The first message of a connection
   * is such a report.
   */
  notify(): void {
    this.missedChange = this.socket.writableNeedDrain;
    if (!this.missedChange) this.push({ kind: "changed" });
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
      for (const content of this.frames.read(chunk)) {
        for (const request of decodeRequests(content)) {
          const answered = this.answer(request).then((answer) => {
            this.pending.delete(answered);
            this.push(answer);
          });
          this.pending.add(answered);
        }
      }
    } catch (error) {
      this.failed(error);
      this.socket.destroy();
    }
  }

  private async answer({ id, write, transaction, discard }: CommitterRequest): Promise<CommitterMessage> {
    try {
      if (discard !== undefined) {
        const discarded = await discardUnreadable(this.store, discard, false);
        return { kind: "answer", id, discarded };
      }
      if (transaction !== undefined) {
        const result = await this.store.transact(transaction);
        const hasDrafts = transaction.every(({ kind }) => kind !== "delete");
        if (result.ok && hasDrafts) return { kind: "committed", id, revision: result.revision };
        return { kind: "answer", id, result };
      }
      if (write === undefined) {
        const obstacle = await this.store.writeObstacle();
        return { kind: "answer", id, error: obstacle && sentError(obstacle) };
      }
      const result = await this.store.commit(write);
      // The sender has the draft.
      if (result.ok && write.kind !== "delete") return { kind: "committed", id, revision: result.revision };
      return { kind: "answer", id, result };
    } catch (error) {
      return { kind: "answer", id, error: sentError(error) };
    }
  }

  private push(message: CommitterMessage): void {
    if (this.messages.push(encodeMessage(message)) > 1) return;
    // After a batch, its answers are added in microtasks.
    queueMicrotask(() => process.nextTick(() => this.send()));
  }

  private send(): void {
    if (this.messages.length === 0 || this.socket.destroyed) return;
    this.socket.write(encodeFrame(this.messages));
    this.messages = [];
  }
}
