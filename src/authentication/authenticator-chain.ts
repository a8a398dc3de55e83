import type { MaybePromise } from "../base/turns/maybe-promise.ts";
import type { StatusError } from "../base/status-error.ts";
import type { UserInfo } from "../base/user-info.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { anonymous } from "./anonymous.ts";
import type { AuthenticationResult, Authenticator, Credentials } from "./authenticator.ts";
import { bearerToken } from "./bearer-token.ts";
import { isRefusal, refusalWithoutReason } from "./refusal.ts";

export interface AuthenticatorChainOptions {
  readonly vocabulary: Vocabulary;
  /**
   * Whether a request without credentials is authenticated as the anonymous user (`--anonymous-auth`). A function decides each request by
   * itself.
   */
  readonly anonymous: boolean | ((credentials: Credentials) => boolean);
}

/**
 * Calls authenticators in order (spec: conventions 5). The first result is used; the chain adds the group
 * `system:authenticated` to its user. If there is none, the request is anonymous, provided that `--anonymous-auth` is set, the
 * request has no bearer token, and no authenticator rejected the credentials. Otherwise the chain throws a StatusError with
 * reason Unauthorized. It never returns undefined.
 */
export class AuthenticatorChain implements Authenticator {
  private readonly anonymous: AuthenticationResult;
  private readonly mayBeAnonymous: (credentials: Credentials) => boolean;
  private readonly authenticatedGroup: string;
  private readonly completedResults = new WeakMap<AuthenticationResult, AuthenticationResult>();

  constructor(
    private readonly methods: readonly Authenticator[],
    options: AuthenticatorChainOptions,
  ) {
    const { anonymous: allowed, vocabulary } = options;
    const isDecidedEachTime = typeof allowed === "function";
    this.mayBeAnonymous = isDecidedEachTime ? allowed : () => allowed;
    this.anonymous = { ...anonymous(vocabulary), cacheable: !isDecidedEachTime };
    this.authenticatedGroup = `${vocabulary.systemPrefix}authenticated`;
  }

  authenticate(credentials: Credentials): MaybePromise<AuthenticationResult> {
    return this.authenticateFrom(0, credentials, undefined);
  }

  private authenticateFrom(
    index: number,
    credentials: Credentials,
    refusal: StatusError | undefined,
  ): MaybePromise<AuthenticationResult> {
    for (let next = index; next < this.methods.length; next++) {
      let result: MaybePromise<AuthenticationResult | undefined>;
      try {
        result = this.methods[next]!.authenticate(credentials);
      } catch (error) {
        refusal ??= asRefusal(error);
        continue;
      }
      if (result instanceof Promise) return this.authenticateAsync(result, next, credentials, refusal);
      if (result !== undefined) return this.completed(result, credentials);
    }
    return this.fallback(credentials, refusal);
  }

  private async authenticateAsync(
    answer: Promise<AuthenticationResult | undefined>,
    index: number,
    credentials: Credentials,
    refusal: StatusError | undefined,
  ): Promise<AuthenticationResult> {
    let result: AuthenticationResult | undefined;
    try {
      result = await answer;
    } catch (error) {
      refusal ??= asRefusal(error);
    }
    return result === undefined
      ? this.authenticateFrom(index + 1, credentials, refusal)
      : this.completed(result, credentials);
  }

  private fallback(credentials: Credentials, refusal: StatusError | undefined): AuthenticationResult {
    if (refusal !== undefined) throw refusal;
    if (bearerToken(credentials.authorization) !== undefined || !this.mayBeAnonymous(credentials)) {
      throw refusalWithoutReason();
    }
    return credentials.certificate === undefined ? this.anonymous : { ...this.anonymous, cacheable: false };
  }

  /** Adds the group. With a certificate the result isn't cacheable: the certificate may expire, or headers of a proxy may name another user. */
  private completed(result: AuthenticationResult, { certificate }: Credentials): AuthenticationResult {
    if (certificate !== undefined) return { ...result, user: this.withGroup(result.user), cacheable: false };
    const cached = this.completedResults.get(result);
    if (cached !== undefined) return cached;
    const completed = { ...result, user: this.withGroup(result.user) };
    if (result.cacheable) this.completedResults.set(result, completed);
    return completed;
  }

  private withGroup(user: UserInfo): UserInfo {
    if (user.groups.includes(this.authenticatedGroup)) return user;
    return { ...user, groups: [...user.groups, this.authenticatedGroup] };
  }
}

/** Returns the error of rejected credentials; rethrows any other error, which is a bug. */
function asRefusal(error: unknown): StatusError {
  if (isRefusal(error)) return error;
  throw error;
}
