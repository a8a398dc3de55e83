import type { BodyStream } from "../../../src/http/transport/body-stream.ts";
import type { Connection } from "../../../src/http/transport/connection.ts";
import type { HandlerGuard, HttpExchange } from "../../../src/http/transport/http-exchange.ts";
import type { HeaderLines } from "../../../src/http/transport/header-lines.ts";

/** A request of a simulated client. */
export interface SimulatedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** Headers by name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

/** Receives what the server sends for one request, without delay. */
export interface AnswerSink {
  started(status: number): void;
  bytes(bytes: Uint8Array): void;
  /** The answer is complete. */
  ended(): void;
  /** The connection was closed before. */
  lost(): void;
}

/** One request and its response, without sockets. */
export class SimulatedExchange implements HttpExchange {
  auditId = "";
  caller = "";
  exempt = false;
  answered = false;
  status = 0;
  sentBytes = 0;
  expired = false;
  onAnswer: ((status: number) => void) | undefined = undefined;
  readonly body = undefined;
  readonly upgrade = undefined;
  readonly backlog = undefined;
  private isOver = false;
  private readonly closeListeners: (() => void)[] = [];

  constructor(
    private readonly request: SimulatedRequest,
    readonly connection: Connection,
    readonly guard: HandlerGuard,
    private readonly sink: AnswerSink,
  ) {}

  get method(): string {
    return this.request.method;
  }

  get url(): string {
    return this.request.url;
  }

  get rawHeaders(): readonly string[] {
    return Object.entries(this.request.headers).flat();
  }

  addHeaders(): void {
    // Clients of the simulation read no headers of responses.
  }

  header(name: string): string | undefined {
    return this.request.headers[name];
  }

  readBody(): Buffer {
    return this.request.body ?? Buffer.alloc(0);
  }

  send(status: number, _headers: HeaderLines, body: Uint8Array): void {
    if (this.expired || this.isOver) return;
    this.start(status);
    this.sentBytes = body.length;
    this.sink.bytes(Buffer.from(body));
    this.complete();
  }

  stream(status: number): BodyStream {
    this.start(status);
    // The compiler can't know that the getter below reads the present state.
    const isOver = (): boolean => this.isOver;
    return {
      write: (bytes) => {
        if (this.isOver) return false;
        this.sentBytes += bytes.length;
        this.sink.bytes(Buffer.from(bytes));
        return true;
      },
      needsDrain: false,
      onDrain: (listener) => listener(),
      backlogBytes: 0,
      get closed() {
        return isOver();
      },
      end: () => this.complete(),
      destroy: () => this.breakOff(),
    };
  }

  onClose(listener: () => void): void {
    if (this.isOver) listener();
    else this.closeListeners.push(listener);
  }

  breakOff(): void {
    this.close(() => this.sink.lost());
  }

  /** The client closes the connection. */
  disconnect(): void {
    this.close(() => undefined);
  }

  private start(status: number): void {
    this.onAnswer?.(status);
    this.answered = true;
    this.status = status;
    this.sink.started(status);
  }

  private complete(): void {
    this.close(() => this.sink.ended());
  }

  private close(notify: () => void): void {
    if (this.isOver) return;
    this.isOver = true;
    notify();
    for (const listener of this.closeListeners) listener();
  }
}
