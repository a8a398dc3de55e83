import type { UserInfo } from "../../base/user-info.ts";
import type { ConnectionBacklog } from "./response-backlog.ts";

/** The state of a client connection. */
export interface Connection {
  readonly remoteAddress: string;
  /** Whether it uses TLS. */
  readonly secure: boolean;
  /** The client's certificate in DER, if its chain was verified against the client authorities. */
  readonly certificate: Buffer | undefined;
  /** The intermediate certificates in DER that the client sent. */
  readonly certificateChain: readonly Buffer[];
  /** Error of the verification of the client certificate, if there is one. */
  readonly certificateError: string | undefined;
  /** The last authenticated user of the connection and the Authorization header. */
  identity: Identity | undefined;
  /** Response bytes that the client hasn't read; undefined while there were none. */
  backlog: ConnectionBacklog | undefined;
}

/** The user of a connection while the Authorization header stays the same. */
export interface Identity {
  readonly authorization: string | undefined;
  readonly user: UserInfo;
  /** Counter of the user's requests. */
  readonly requests: RequestCounter;
}

/** A counter of requests. */
export interface RequestCounter {
  inc(): void;
}

/** Receives events of client connections. */
export interface ConnectionObserver {
  opened(): void;
  closed(): void;
  /** A connection above the limit was closed. */
  refused(): void;
  /** A connection couldn't be accepted for lack of file descriptors. */
  exhausted(what: "accept" | "dial"): void;
  /** Checks regularly whether there are free file descriptors. */
  look(): Promise<void>;
}

/** Error codes for lack of file descriptors in the process or the system. */
export const exhaustionCodes: ReadonlySet<string> = new Set(["EMFILE", "ENFILE"]);
