import type { MaybePromise } from "../base/maybe-promise.ts";
import type { UserInfo } from "../base/user-info.ts";

/** What a request brings along to show who makes it. */
export interface Credentials {
  /** The `Authorization` header, when there is one. */
  readonly authorization: string | undefined;
  /**
   * The client's certificate in DER, only if the TLS handshake verified its chain against the client authorities. All
   * requests of a connection bring the same object.
   */
  readonly certificate: Buffer | undefined;
  /** The certificates in DER that came with it, towards its authority's. */
  readonly certificateChain?: readonly Buffer[] | undefined;
  /** Why the handshake didn't verify the certificate that the client presented; such a request is never anonymous. */
  readonly certificateError?: string | undefined;
  /** All headers as sent: name, value, name, value, …; undefined where there is no request. */
  readonly rawHeaders?: readonly string[] | undefined;
  /** Address of the peer: for messages, and for fair shares of what is slow. */
  readonly remoteAddress: string;
  /** Stands for the connection on which the request came; undefined where there is none. */
  readonly connection?: object | undefined;
  /**
   * For whom the caller is to be known (spec: conventions 5.7): a token must be meant for one of these. Undefined stands
   * for the server's own audiences, which is what every request is about.
   */
  readonly audiences?: readonly string[] | undefined;
}

/** Who a request is made by. */
export interface AuthenticationResult {
  readonly user: UserInfo;
  /** Name of the method that decided, for audit and metrics: `client-certificate`, `token-file`, `anonymous`, … */
  readonly method: string;
  /**
   * Whether the same credentials get this answer for as long as the server runs: they neither expire nor can be
   * revoked, so that a connection needs to ask only once.
   */
  readonly cacheable: boolean;
  /**
   * Those of the audiences that were asked for whom the credentials are meant; undefined for methods that know no
   * audiences, whose credentials are meant for this server.
   */
  readonly audiences?: readonly string[] | undefined;
}

/**
 * One method of finding out who makes a request (spec: conventions 5). It answers
 * - with a result when it recognizes the credentials,
 * - with undefined when they say nothing to it: there are none of its sort, or another method may know them,
 * - by throwing a {@link StatusError} with reason Unauthorized when they are of its sort and wrong beyond doubt. Other
 *   methods are still asked, but the request can't be anonymous any more.
 *
 * Its user has the groups that the credentials name; `system:authenticated` is added by the chain.
 */
export interface Authenticator {
  authenticate(credentials: Credentials): MaybePromise<AuthenticationResult | undefined>;
}
