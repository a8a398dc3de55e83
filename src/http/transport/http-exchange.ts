import type { Duplex, Readable } from "node:stream";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { ReadableConnection } from "../../flow/fair-reading.ts";
import type { BodyStream } from "./body-stream.ts";
import type { Connection } from "./connection.ts";
import type { HeaderLines } from "./header-lines.ts";
import type { ResponseBacklog } from "./response-backlog.ts";
import type { BodyAccount } from "./body-budget.ts";
import type { HandlerGuard } from "./guard.ts";

/** The header of a request and of its answer that names the request in the audit. */
export const auditIdHeader = "Audit-Id";

/**
 * One request and its answer as HTTP carries them, whichever version. Exactly one of `send` and `stream` is called before
 * the exchange expires.
 */
export interface HttpExchange {
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  readonly connection: Connection;
  /** Under which the request is found in the audit: every answer says it. Empty: no answer says any. */
  auditId: string;
  /** Name of the user as whom the request is made; empty until that is known. */
  caller: string;
  /** Whether the request is at an exempt priority level; false until that is known. */
  exempt: boolean;
  /** Has the answer, whatever it is, carry further header lines; before it begins. */
  addHeaders(lines: HeaderLines): void;
  /** The value of a request header, by its name in lower case. */
  header(name: string): string | undefined;
  /** All headers as sent: name, value, name, value, … */
  readonly rawHeaders: readonly string[];
  /**
   * Reads the body. What arrives while it is read is charged to the account; a body that is there already is not.
   *
   * @throws {StatusError} RequestEntityTooLarge above `maxBytes`; Timeout when it doesn't end in time; TooManyRequests
   * when the account refuses.
   */
  readBody(maxBytes: number, account: BodyAccount): MaybePromise<Buffer>;
  /** The body as it comes, for who doesn't read it by `readBody`; undefined when there is none. */
  readonly body: Readable | undefined;
  /** The client's offer to go on in another protocol; undefined where there is none, or it can't be taken. */
  readonly upgrade: UpgradeOffer | undefined;
  /** Answers with one body. */
  send(status: number, headers: HeaderLines, body: Uint8Array): void;
  /**
   * Answers with a body that is written bit by bit.
   *
   * @param trailing whether header lines may follow the body; else those that `end` is given are dropped.
   */
  stream(status: number, headers: HeaderLines, trailing?: boolean): BodyStream;
  /** Whether an answer was begun. */
  readonly answered: boolean;
  /** Its status; 0 before. */
  readonly status: number;
  /** Bytes of the answer's body that were handed over. */
  readonly sentBytes: number;
  /** Calls once when the connection or stream is gone, whatever the reason. */
  onClose(listener: () => void): void;
  /** What of the answer the client hasn't taken yet; undefined when there is nothing of it. */
  readonly backlog: ResponseBacklog | undefined;
  /** Ends the connection or stream unless the answer is already handed over whole. */
  breakOff(): void;
  /** Registers event handlers that the client's bytes, or a backend's, can reach. */
  readonly guard: HandlerGuard;
  /** The connection, where it carries one request after the other. */
  readonly reader?: ReadableConnection | undefined;
  /** Called with the status when an answer begins; undefined where nobody wants to know. */
  onAnswer: ((status: number) => void) | undefined;
  /**
   * Whether the request's time is over. Its client got its answer then: what is sent afterwards is dropped, and streams are
   * closed ones.
   */
  expired: boolean;
}

/** A client offers to go on in another protocol on its connection (`Connection: Upgrade`). */
export interface UpgradeOffer {
  /** The protocol as the client names it, for example `websocket`. */
  readonly protocol: string;
  /**
   * Answers with 101 and these header lines, instead of `send` or `stream`, and hands the connection over: whoever takes
   * it reads all bytes that follow the request, and must end it.
   */
  accept(headers: HeaderLines): Duplex;
}
