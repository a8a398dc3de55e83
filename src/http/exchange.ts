import type { Duplex, Readable } from "node:stream";
import type { Clock } from "../base/clock.ts";
import type { MaybePromise } from "../base/maybe-promise.ts";
import type { ReadableConnection } from "../flow/fair-reading.ts";
import { StatusError } from "../base/status-error.ts";
import type { UserInfo } from "../base/user-info.ts";
import type { UnsentAnswer, UnsentOnConnection } from "./unsent.ts";
import type { Course } from "./metrics/request-metrics.ts";
import type { Sample } from "./metrics/metric.ts";
import type { AuditTrail } from "./audit/trail.ts";
import type { BodyAccount } from "./body-budget.ts";
import type { HandlerGuard } from "./guard.ts";

/** The header of a request and of its answer that names the request in the audit. */
export const auditIdHeader = "Audit-Id";

/** Header lines of an answer, as name, value, name, value, … */
export type HeaderLines = readonly string[];

/** One request and its answer, whichever version of HTTP carries it. Exactly one of `send` and `stream` is called. */
export interface Exchange {
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
  /** What is known of the request so far; set before anything is asked of it. */
  course: Course | undefined;
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
  readonly unsent: UnsentAnswer | undefined;
  /** Ends the connection or stream unless the answer is already handed over whole. */
  breakOff(): void;
  /** Registers event handlers that the client's bytes, or a backend's, can reach. */
  readonly guard: HandlerGuard;
  /** The connection, where it carries one request after the other. */
  readonly reader?: ReadableConnection | undefined;
  /** Takes note of what is asked and answered; absent where nothing is audited. */
  readonly audit?: AuditTrail | undefined;
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

/** The body of an answer that is being written. */
export interface BodyStream {
  /** Hands over bytes; false when the client is slower than the bytes come. */
  write(bytes: Uint8Array): boolean;
  /** Resolves when the client has taken most of what was written, or is gone. */
  drained(): Promise<void>;
  /** Bytes that were written and not yet taken. */
  readonly backlogBytes: number;
  readonly closed: boolean;
  /** Ends the answer well, with trailers where it may have some; a promise resolves when all of it is handed over. */
  end(trailers?: HeaderLines): MaybePromise<void>;
  /** Breaks the connection off, so that the client can't mistake what it has for a whole answer. */
  destroy(): void;
}

/** What the server knows of a client's connection. */
export interface Connection {
  readonly remoteAddress: string;
  /** Whether it is encrypted. */
  readonly secure: boolean;
  /** The client's certificate in DER, if its chain was verified against the client authorities. */
  readonly certificate: Buffer | undefined;
  /** The certificates in DER that came with it, towards its authority's. */
  readonly certificateChain: readonly Buffer[];
  /** Why the chain of the certificate that the client presented wasn't verified; undefined when there is nothing to say. */
  readonly certificateError: string | undefined;
  /** Who was last recognised on this connection, and by which Authorization header. */
  identity: Identity | undefined;
  /** What the client hasn't taken of its answers; undefined as long as it took all at once. */
  unsent: UnsentOnConnection | undefined;
}

/** A caller who stays the same for as long as a connection brings the same header. */
export interface Identity {
  readonly authorization: string | undefined;
  readonly user: UserInfo;
  /** Where the user's requests are counted. */
  readonly requests: Sample;
}

/** A client that takes nothing of what it asked for in this time has stopped reading. */
export const stallMs = 60_000;

/**
 * Waits until the client has taken most of what was written.
 *
 * @throws {StatusError} Timeout when it takes nothing for {@link stallMs}.
 */
export async function drainInTime(stream: BodyStream, clock: Clock): Promise<void> {
  const drained = stream.drained();
  let stalled: (error: StatusError) => void = () => undefined;
  const stall = new Promise<never>((_, reject) => {
    stalled = reject;
  });
  const timer = clock.setTimer(
    () => stalled(new StatusError("Timeout", "the client stopped reading")),
    stallMs,
  );
  try {
    await Promise.race([drained, stall]);
  } finally {
    timer.cancel();
  }
}
