import type { Duplex, Readable } from "node:stream";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { ReadableConnection } from "../../flow/fair-reading.ts";
import type { BodyStream } from "./body-stream.ts";
import type { Connection } from "./connection.ts";
import type { HeaderLines } from "./header-lines.ts";
import type { ResponseBacklog } from "./response-backlog.ts";
import type { BodyAccount } from "./body-budget.ts";
import type { HandlerGuard } from "./guard.ts";

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
