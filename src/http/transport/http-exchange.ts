import type { Duplex, Readable } from "node:stream";
import type { JsonDocument } from "../../base/json/exact.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { ReadableConnection } from "../../flow/fair-turns.ts";
import type { BodyStream } from "./body-stream.ts";
import type { Connection } from "./connection.ts";
import type { HeaderLines } from "./header-lines.ts";
import type { ResponseBacklog } from "./response-backlog.ts";
import type { BodyAccount } from "./body-budget.ts";
import type { EventEmitter } from "node:events";

/** Request and response header with the audit ID. */
export const auditIdHeader = "Audit-Id";

/**
 * A request and its response over HTTP/1.1 or HTTP/2. Exactly one of `send` and `stream` is called before the exchange expires.
 */
export interface HttpExchange {
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  readonly connection: Connection;
  /** The audit ID, which every response has as a header; empty for none. */
  auditId: string;
  /** Name of the effective user; empty before authentication. */
  caller: string;
  /** Whether the priority level is exempt; false before classification. */
  exempt: boolean;
  /** Adds header lines to any response; must be called before it starts. */
  addHeaders(lines: HeaderLines): void;
  /** The value of a request header, by its name in lower case. */
  header(name: string): string | undefined;
  /** All headers as sent: name, value, name, value, … */
  readonly rawHeaders: readonly string[];
  /**
   * Reads the body. Bytes that arrive meanwhile are charged to the account; a body that has arrived already is not.
   *
   * @throws {StatusError} RequestEntityTooLarge above `maxBytes`; Timeout; TooManyRequests if the account refuses.
   */
  readBody(maxBytes: number, account: BodyAccount): MaybePromise<Buffer>;
  /** The decoded body, which must not be changed; undefined if only its bytes are known. */
  readonly document?: JsonDocument | undefined;
  /** The body as a stream, instead of `readBody`; undefined if there is none. */
  readonly body: Readable | undefined;
  /** The requested protocol upgrade; undefined if there is none or it isn't possible. */
  readonly upgrade: UpgradeOffer | undefined;
  /** Sends a response with one body. */
  send(status: number, headers: HeaderLines, body: Uint8Array): void;
  /**
   * Starts a streamed response.
   *
   * @param trailing whether trailers may follow the body; otherwise those of `end` are dropped.
   */
  stream(status: number, headers: HeaderLines, trailing?: boolean): BodyStream;
  /** Whether the response has started. */
  readonly answered: boolean;
  /** Its status; 0 before. */
  readonly status: number;
  /** Written bytes of the response body. */
  readonly sentBytes: number;
  /** Calls the listener once when the connection or stream is closed. */
  onClose(listener: () => void): void;
  /** Response bytes that the client hasn't read; undefined if there are none. */
  readonly backlog: ResponseBacklog | undefined;
  /** Aborts the connection or stream unless the response is complete. */
  breakOff(): void;
  /** Ends the connection after the requests that it carries at present, if it can carry several at a time. */
  endConnection?(): void;
  /** Registers guarded event handlers. */
  readonly guard: HandlerGuard;
  /** The connection, if it carries one request at a time. */
  readonly reader?: ReadableConnection | undefined;
  /** Called with the status when the response starts. */
  onAnswer: ((status: number) => void) | undefined;
  /**
   * Whether the request timed out. The client got an error; later responses are dropped and streams are closed.
   */
  expired: boolean;
}

/** A requested protocol upgrade (`Connection: Upgrade`). */
export interface UpgradeOffer {
  /** Name of the protocol, for example `websocket`. */
  readonly protocol: string;
  /**
   * Responds with 101 and these header lines, instead of `send` or `stream`, and returns the connection. The caller reads all further
   * bytes and must close it.
   */
  accept(headers: HeaderLines): Duplex;
  /**
   * As `accept`, for a connection to which the server writes as to the body of a streamed response, with the same limits. The caller
   * reads all bytes of the socket.
   */
  stream(headers: HeaderLines): { readonly socket: Duplex; readonly body: BodyStream };
}

/** A connection or stream that can be ended: a socket, an HTTP/2 stream or session, a request, a response. */
interface Endable {
  destroy(): unknown;
}

/** An event handler. Its parameters are those of the event. */
type Handler = (...parameters: never[]) => unknown;

/**
 * Wraps event handlers that a peer's bytes can reach. Node ends the process on an exception in an event handler, so a
 * peer could end it by its bytes. If a guarded handler throws or its promise rejects, the guard closes the connection
 * or stream of the event and reports the exception as a bug.
 *
 * Rule: everything in `src/http/` that registers an event handler does so by {@link on} or {@link once}; a test in
 * `test/tidy/` enforces it.
 */
export class HandlerGuard {
  /** @param report logs and counts a bug; it must not throw. */
  constructor(private readonly report: (error: unknown, event: string) => void) {}

  /**
   * Registers a guarded event handler.
   *
   * @param ends closed when the handler fails; the default is the first event parameter that can be closed.
   */
  on(emitter: EventEmitter, event: string, handler: Handler, ends?: Endable): void {
    emitter.on(event, this.wrap(event, handler, ends));
  }

  /** As {@link on}, for the first event only. */
  once(emitter: EventEmitter, event: string, handler: Handler, ends?: Endable): void {
    emitter.once(event, this.wrap(event, handler, ends));
  }

  /**
   * As {@link once}, for the first of several events.
   *
   * @returns a function that removes the handler.
   */
  onceAny(emitter: EventEmitter, events: readonly string[], handler: Handler, ends: Endable): () => void {
    const remove = () => {
      for (const event of events) emitter.off(event, call);
    };
    const call = this.wrap(
      events.join(" or "),
      (...parameters) => {
        remove();
        return handler(...parameters);
      },
      ends,
    );
    for (const event of events) emitter.once(event, call);
    return remove;
  }

  /** Returns a guarded callback; see {@link on}. */
  wrap(event: string, handler: Handler, ends?: Endable): (...parameters: unknown[]) => void {
    return (...parameters) => {
      const call = () => (handler as (...parameters: unknown[]) => unknown)(...parameters);
      this.run(event, call, ends ?? parameters.find(isEndable));
    };
  }

  /** Runs a task at once, guarded. */
  run(event: string, task: () => unknown, ends: Endable | undefined): void {
    try {
      const result = task();
      if (result instanceof Promise) result.catch((error: unknown) => this.fail(error, event, ends));
    } catch (error) {
      this.fail(error, event, ends);
    }
  }

  private fail(error: unknown, event: string, ends: Endable | undefined): void {
    this.report(error, event);
    try {
      ends?.destroy();
    } catch (second) {
      this.report(second, event);
    }
  }
}

function isEndable(value: unknown): value is Endable {
  return typeof (value as Partial<Endable> | undefined)?.destroy === "function";
}
