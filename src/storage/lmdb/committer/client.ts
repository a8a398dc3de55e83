import { connect, type Socket } from "node:net";
import {
  type CommitResult,
  type DiscardResult,
  type Draft,
  StoreClosedError,
  StoreError,
  StoreTimeoutError,
  StoreUnavailableError,
  type TransactionResult,
  type Write,
} from "../../store.ts";
import { receivedError } from "./errors.ts";
import { entryFromDraft } from "../../entry.ts";
import { encodeFrame, FrameReader } from "./frames.ts";
import { type CommitterMessage, type CommitterRequest, decodeMessages, encodeRequest } from "./messages.ts";

/** Delay before a lost connection is established again. */
const reconnectMs = 50;
/** Interval of the check for requests that waited too long. */
const checkMs = 250;

/** The answer to a request. */
type Answer = Exclude<CommitterMessage, { kind: "changed" }>;

/** A request with its callbacks. */
interface Pending {
  readonly request: CommitterRequest;
  /** Time of the call, in milliseconds of `performance.now()`. */
  readonly since: number;
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

/**
 * Sends writes to the process that commits for all servers of a folder. While that process is being replaced, writes wait; a write that
 * was sent and not answered has an unknown outcome and fails.
 */
export class CommitterClient {
  /** The connection, also while it is being established. */
  private socket: Socket;
  /** Whether the process has sent a message; a connection to one that is ending may never be accepted. */
  private connected = false;
  private lastId = 0;
  /** Requests that aren't sent. */
  private waiting: Pending[] = [];
  /** Requests without answer, by id. */
  private readonly sent = new Map<number, Pending>();
  private timer: NodeJS.Timeout | undefined;
  private reconnecting: NodeJS.Timeout | undefined;
  private sendScheduled = false;
  private idle: (() => void)[] = [];
  private closed = false;

  /**
   * @param path path of the socket of the {@link serveCommits} service.
   * @param limitMs maximum time that a write waits to be sent, and then for its answer, in milliseconds.
   * @param onChange called when any process has committed, before the answers of its writes are returned. Must not throw.
   */
  constructor(
    private readonly path: string,
    private readonly limitMs: number,
    private readonly onChange: () => void,
  ) {
    this.socket = this.connect();
  }

  /**
   * Commits a write as `Store.commit` does, with the same errors.
   *
   * @throws {StoreUnavailableError} the process that commits ended before its answer; the outcome is unknown.
   */
  async commit(write: Write): Promise<CommitResult> {
    const answer = await this.ask({ id: ++this.lastId, write });
    if (answer.kind === "committed") {
      const { revision } = answer;
      return { ok: true, revision, entry: entryFromDraft(write.key, revision, draftOf(write)) };
    }
    if (answer.error !== undefined) throw receivedError(answer.error);
    return answer.result as CommitResult;
  }

  /** Commits a transaction as `Store.transact` does; with the errors of {@link commit}. */
  async transact(writes: readonly Write[]): Promise<TransactionResult> {
    const answer = await this.ask({ id: ++this.lastId, transaction: writes });
    if (answer.kind === "committed") {
      const { revision } = answer;
      return {
        ok: true,
        revision,
        entries: writes.map((write) => entryFromDraft(write.key, revision, draftOf(write))),
      };
    }
    if (answer.error !== undefined) throw receivedError(answer.error);
    return answer.result as TransactionResult;
  }

  /** Removes a value that can't be read, as `Store.discard` does. */
  async discard(key: string): Promise<DiscardResult> {
    const answer = await this.ask({ id: ++this.lastId, discard: key });
    if (answer.kind === "answer" && answer.error !== undefined) throw receivedError(answer.error);
    if (answer.kind === "committed" || answer.discarded === undefined)
      throw new StoreError("the process that commits writes gave an answer of another request");
    return answer.discarded;
  }

  /** Returns why writes fail at present, as `Store.writeObstacle` does; also that the process that commits can't be asked. */
  async obstacle(): Promise<StoreError | undefined> {
    try {
      const answer = await this.ask({ id: ++this.lastId });
      if (answer.kind === "answer" && answer.error !== undefined) throw receivedError(answer.error);
      return undefined;
    } catch (error) {
      if (error instanceof StoreError) return error;
      throw error;
    }
  }

  /** Resolves when no request waits for its answer. */
  settled(): Promise<void> {
    return this.isIdle ? Promise.resolve() : new Promise((resolve) => this.idle.push(resolve));
  }

  /** Rejects the requests that aren't answered, and closes the connection. */
  close(): void {
    this.closed = true;
    clearInterval(this.timer);
    clearTimeout(this.reconnecting);
    this.socket.destroy();
    const error = new StoreClosedError("the store is closed");
    for (const pending of [...this.waiting, ...this.sent.values()]) pending.reject(error);
    this.waiting = [];
    this.sent.clear();
  }

  private ask(request: CommitterRequest): Promise<Answer> {
    if (this.closed) return Promise.reject(new StoreClosedError("the store is closed"));
    return new Promise((resolve, reject) => {
      this.waiting.push({ request, since: performance.now(), resolve, reject });
      this.timer ??= setInterval(() => this.check(), checkMs);
      this.scheduleSend();
    });
  }

  /** Sends the requests of one turn of the event loop together. */
  private scheduleSend(): void {
    if (this.sendScheduled) return;
    this.sendScheduled = true;
    setImmediate(() => {
      this.sendScheduled = false;
      this.send();
    });
  }

  private send(): void {
    const { socket, waiting } = this;
    if (!this.connected || waiting.length === 0) return;
    this.waiting = [];
    for (const pending of waiting) this.sent.set(pending.request.id, pending);
    socket.write(encodeFrame(waiting.map(({ request }) => encodeRequest(request))));
  }

  private connect(): Socket {
    const frames = new FrameReader();
    const socket = connect(this.path);
    socket.on("data", (chunk: Buffer) => {
      try {
        for (const content of frames.read(chunk)) {
          for (const message of decodeMessages(content)) this.receive(message);
        }
      } catch (error) {
        socket.destroy(error as Error);
      }
    });
    let cause: Error | undefined;
    socket.on("error", (error) => (cause = error));
    socket.on("close", () => this.lost(cause));
    return socket;
  }

  private receive(message: CommitterMessage): void {
    if (message.kind === "changed") {
      this.onChange();
      if (this.connected) return;
      this.connected = true;
      return this.send();
    }
    const pending = this.sent.get(message.id);
    // Absent if it waited too long.
    if (pending === undefined) return;
    this.sent.delete(message.id);
    pending.resolve(message);
    this.endCheck();
  }

  private lost(cause: Error | undefined): void {
    this.connected = false;
    if (this.closed) return;
    for (const pending of this.sent.values()) pending.reject(unknownOutcome(cause));
    this.sent.clear();
    this.endCheck();
    this.reconnecting = setTimeout(() => (this.socket = this.connect()), reconnectMs);
  }

  /** Rejects the requests that waited too long. */
  private check(): void {
    const before = performance.now() - this.limitMs;
    const late = this.waiting.filter(({ since }) => since < before);
    this.waiting = this.waiting.filter(({ since }) => since >= before);
    for (const { reject } of late)
      reject(new StoreTimeoutError("the process that commits writes can't be reached; nothing was written"));
    // The other end of a connection without a message may have no owner: it is established again.
    if (late.length > 0 && !this.connected) this.socket.destroy();
    // The process that commits has the same limit for writes that it can't begin.
    for (const [id, { since, reject }] of this.sent) {
      if (since >= before - this.limitMs) break;
      this.sent.delete(id);
      reject(unknownOutcome(undefined));
    }
    this.endCheck();
  }

  private get isIdle(): boolean {
    return this.waiting.length === 0 && this.sent.size === 0;
  }

  /** Ends the check if no request is left. */
  private endCheck(): void {
    if (!this.isIdle) return;
    clearInterval(this.timer);
    this.timer = undefined;
    for (const resolve of this.idle.splice(0)) resolve();
  }
}

/** The draft of a write of which "committed" is an answer. */
function draftOf(write: Write): Draft {
  if (write.kind === "delete") throw new TypeError("a delete has no draft");
  return write.draft;
}

function unknownOutcome(cause: Error | undefined): StoreUnavailableError {
  return new StoreUnavailableError(
    "the process that commits writes ended or hangs; whether the write took effect is unknown",
    { cause },
  );
}
