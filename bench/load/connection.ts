import { once } from "node:events";
import { connect, createSecureContext, type SecureContext, type TLSSocket } from "node:tls";
import type { Address } from "./plan.ts";
import { ResponseReader } from "./response-reader.ts";

/** Cached, because reading certificates costs more than a handshake. */
const contexts = new WeakMap<Address, SecureContext>();

function contextOf(address: Address): SecureContext {
  let context = contexts.get(address);
  if (context === undefined) {
    const { ca, client } = address;
    context = createSecureContext({
      ...(ca === undefined ? {} : { ca }),
      ...(client === undefined ? {} : { cert: client.certificate, key: client.key }),
    });
    contexts.set(address, context);
  }
  return context;
}

/** Opens a keep-alive connection that speaks HTTP/1.1. */
export async function openSocket(address: Address): Promise<TLSSocket> {
  const { host, port, ca } = address;
  const socket = connect({
    host,
    port,
    secureContext: contextOf(address),
    rejectUnauthorized: ca !== undefined,
    ...(/^[\d.:]+$/.test(host) ? {} : { servername: host }),
    ALPNProtocols: ["http/1.1"],
  });
  await once(socket, "secureConnect");
  socket.setNoDelay(true);
  return socket;
}

/** The source of a connection's requests and the receiver of its responses. */
export interface Conversation {
  /** Returns the next request; undefined to stop. */
  next(): Buffer | undefined;
  /** Returns the milliseconds to wait before the next request. */
  delayMs?(): number;
  /** Called for each response with its duration. */
  answered(status: number, milliseconds: number): void;
  /** Called for each part of a body. */
  body?(bytes: Buffer): void;
}

/** Sends requests one after the other over a connection. */
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

  /** Resolves when the conversation stops and the last response has arrived. */
  run(talk: Conversation): Promise<void> {
    if (this.lost !== undefined) return Promise.reject(this.lost);
    this.talk = talk;
    return new Promise((resolve, reject) => {
      this.finished = resolve;
      this.broken = reject;
      this.sendInTime();
    });
  }

  close(): void {
    this.broken = undefined;
    this.socket.destroy();
  }

  private sendInTime(): void {
    const delayMs = this.talk!.delayMs?.() ?? 0;
    if (delayMs <= 0) this.send();
    else setTimeout(() => this.send(), delayMs);
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
    this.sendInTime();
  }

  private onLost(error: Error): void {
    this.lost = error;
    this.broken?.(error);
  }
}

/** Sends each request over a new connection; opening it counts as part of the request's time. */
export async function runOnNewConnections(address: Address, talk: Conversation): Promise<void> {
  for (;;) {
    const bytes = talk.next();
    if (bytes === undefined) return;
    const begun = performance.now();
    const connection = await Connection.open(address);
    let sent = false;
    await connection.run({
      next: () => {
        if (sent) return undefined;
        sent = true;
        return bytes;
      },
      answered: (status) => talk.answered(status, performance.now() - begun),
      body: (part) => talk.body?.(part),
    });
    connection.close();
  }
}
