import { once } from "node:events";
import { connect, type TLSSocket } from "node:tls";
import type { Address } from "./plan.ts";
import { ResponseReader } from "./response-reader.ts";

/** Opens a keep-alive connection that speaks HTTP/1.1. */
export async function openSocket({ host, port, ca }: Address): Promise<TLSSocket> {
  const socket = connect({
    host,
    port,
    ...(ca === undefined ? { rejectUnauthorized: false } : { ca }),
    ...(/^[\d.:]+$/.test(host) ? {} : { servername: host }),
    ALPNProtocols: ["http/1.1"],
  });
  await once(socket, "secureConnect");
  socket.setNoDelay(true);
  return socket;
}

/** What a connection sends, and hears. */
export interface Conversation {
  /** The next request; undefined: enough. */
  next(): Buffer | undefined;
  /** One answer came, this long after its request. */
  answered(status: number, milliseconds: number): void;
  /** Part of a body, while the answer is read. */
  body?(bytes: Buffer): void;
}

/** Sends a request, reads its answer, sends the next. */
export class Connection {
  private readonly reader: ResponseReader;
  private talk: Conversation | undefined;
  private sentAt = 0;
  private finished: (() => void) | undefined;
  private broken: ((error: Error) => void) | undefined;
  private lost: Error | undefined;

  private constructor(private readonly socket: TLSSocket) {
    this.reader = new ResponseReader({
      body: (bytes) => this.talk?.body?.(bytes),
      done: (status) => this.onAnswer(status),
    });
    socket.on("data", (bytes: Buffer) => this.reader.take(bytes));
    socket.on("error", (error) => this.onLost(error));
    socket.on("close", () => this.onLost(new Error("the server closed the connection")));
  }

  static async open(address: Address): Promise<Connection> {
    return new Connection(await openSocket(address));
  }

  /** Resolves when the conversation says that it is enough and the last answer came. */
  run(talk: Conversation): Promise<void> {
    if (this.lost !== undefined) return Promise.reject(this.lost);
    this.talk = talk;
    return new Promise((resolve, reject) => {
      this.finished = resolve;
      this.broken = reject;
      this.send();
    });
  }

  close(): void {
    this.broken = undefined;
    this.socket.destroy();
  }

  private send(): void {
    const bytes = this.talk!.next();
    if (bytes === undefined) {
      this.broken = undefined;
      this.finished!();
      return;
    }
    this.sentAt = performance.now();
    this.socket.write(bytes);
  }

  private onAnswer(status: number): void {
    this.talk!.answered(status, performance.now() - this.sentAt);
    this.send();
  }

  private onLost(error: Error): void {
    this.lost = error;
    this.broken?.(error);
  }
}
