import type { UserInfo } from "../../base/user-info.ts";
import type { ConnectionBacklog } from "./response-backlog.ts";

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
  backlog: ConnectionBacklog | undefined;
}

/** A caller who stays the same for as long as a connection brings the same header. */
export interface Identity {
  readonly authorization: string | undefined;
  readonly user: UserInfo;
  /** Where the user's requests are counted. */
  readonly requests: RequestCounter;
}

/** Counts requests of one sort. */
export interface RequestCounter {
  inc(): void;
}
