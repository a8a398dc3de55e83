import type { MaybePromise } from "../base/turns/maybe-promise.ts";
import type { UserInfo } from "../base/user-info.ts";

/** The credentials of a request. */
export interface Credentials {
  /** The `Authorization` header, if present. */
  readonly authorization: string | undefined;
  /**
   * The client certificate in DER. Set only if the TLS handshake verified it against the client CAs. All requests of a
   * connection have the same object.
   */
  readonly certificate: Buffer | undefined;
  /** The intermediate certificates that the client sent, in DER, from leaf to root. */
  readonly certificateChain?: readonly Buffer[] | undefined;
  /** Why the TLS handshake didn't verify the client certificate; such a request is never anonymous. */
  readonly certificateError?: string | undefined;
  /** All headers as in `IncomingMessage.rawHeaders`: name, value, name, value, …; undefined without a request. */
  readonly rawHeaders?: readonly string[] | undefined;
  /** Path of the request, without the query; undefined without a request. */
  readonly path?: string | undefined;
  /** Address of the peer, for messages and fair queuing. */
  readonly remoteAddress: string;
  /** Identifies the connection of the request; undefined without one. */
  readonly connection?: object | undefined;
  /**
   * The audiences of a TokenReview (spec: conventions 5.7): a token must be valid for one of them. Undefined for ordinary
   * requests, which require one of the server's own audiences.
   */
  readonly audiences?: readonly string[] | undefined;
}

/** The authenticated user of a request. */
export interface AuthenticationResult {
  readonly user: UserInfo;
  /** Name of the authentication method, for audit and metrics: `client-certificate`, `token-file`, `anonymous`, … */
  readonly method: string;
  /**
   * Whether the same credentials have this result until the server stops, because they neither expire nor can be revoked.
   * The result is then cached per connection.
   */
  readonly cacheable: boolean;
  /**
   * The requested audiences for which the credentials are valid; undefined for methods without audiences, whose credentials
   * are valid for this server.
   */
  readonly audiences?: readonly string[] | undefined;
}

/** An authentication method (spec: conventions 5). */
export interface Authenticator {
  /**
   * Returns the user if the credentials are valid; undefined if there are no credentials of its kind, or another method may accept
   * them. The user has the groups of the credentials; the chain adds `system:authenticated`.
   *
   * @throws {StatusError} reason Unauthorized: the credentials are of its kind and invalid. Other methods are still called, but the
   *   request can't be anonymous any more.
   */
  authenticate(credentials: Credentials): MaybePromise<AuthenticationResult | undefined>;
}
