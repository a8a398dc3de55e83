import type { MaybePromise } from "../base/maybe-promise.ts";
import { StatusError } from "../base/status-error.ts";
import type { UserInfo } from "../base/user-info.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { anonymous } from "./anonymous.ts";
import type { AuthenticationResult, Authenticator, Credentials } from "./authenticator.ts";
import { bearerToken } from "./bearer-token.ts";
import { isRefusal } from "./refusal.ts";

/** What a chain needs beside its methods. */
export interface AuthenticatorChainOptions {
  readonly vocabulary: Vocabulary;
  /** Whether a request without credentials is let in as the anonymous user (`--anonymous-auth`). */
  readonly anonymous: boolean;
}

/**
 * Asks several methods in turn; the first that recognizes the credentials decides, and its user is in group
 * `system:authenticated` from then on (spec: conventions 5). When none does, the request is anonymous if that is
 * allowed and it brought no credentials that were wrong: an unknown bearer token, or credentials that a method refused.
 * Otherwise the chain throws a StatusError with reason Unauthorized; it never answers with undefined.
 */
export class AuthenticatorChain implements Authenticator {
  private readonly anonymous: AuthenticationResult | undefined;
  private readonly authenticatedGroup: string;
  private readonly remembered = new WeakMap<AuthenticationResult, AuthenticationResult>();

  constructor(
    private readonly methods: readonly Authenticator[],
    options: AuthenticatorChainOptions,
  ) {
    this.anonymous = options.anonymous ? anonymous(options.vocabulary) : undefined;
    this.authenticatedGroup = `${options.vocabulary.systemPrefix}authenticated`;
  }

  authenticate(credentials: Credentials): MaybePromise<AuthenticationResult> {
    return this.askFrom(0, credentials, undefined);
  }

  private askFrom(
    index: number,
    credentials: Credentials,
    refusal: StatusError | undefined,
  ): MaybePromise<AuthenticationResult> {
    for (let next = index; next < this.methods.length; next++) {
      let answer: MaybePromise<AuthenticationResult | undefined>;
      try {
        answer = this.methods[next]!.authenticate(credentials);
      } catch (error) {
        refusal ??= asRefusal(error);
        continue;
      }
      if (answer instanceof Promise) return this.awaitAnswer(answer, next, credentials, refusal);
      if (answer !== undefined) return this.authenticated(answer, credentials);
    }
    return this.unrecognized(credentials, refusal);
  }

  private async awaitAnswer(
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
      ? this.askFrom(index + 1, credentials, refusal)
      : this.authenticated(result, credentials);
  }

  private unrecognized(credentials: Credentials, refusal: StatusError | undefined): AuthenticationResult {
    if (refusal !== undefined) throw refusal;
    if (this.anonymous === undefined || bearerToken(credentials.authorization) !== undefined) {
      throw new StatusError("Unauthorized", "Unauthorized");
    }
    return credentials.certificate === undefined ? this.anonymous : { ...this.anonymous, cacheable: false };
  }

  /** On a connection with a certificate other headers may make another caller, or the certificate end. */
  private authenticated(result: AuthenticationResult, { certificate }: Credentials): AuthenticationResult {
    if (certificate !== undefined) return { ...result, user: this.withGroup(result.user), cacheable: false };
    const known = this.remembered.get(result);
    if (known !== undefined) return known;
    const complete = { ...result, user: this.withGroup(result.user) };
    if (result.cacheable) this.remembered.set(result, complete);
    return complete;
  }

  private withGroup(user: UserInfo): UserInfo {
    if (user.groups.includes(this.authenticatedGroup)) return user;
    return { ...user, groups: [...user.groups, this.authenticatedGroup] };
  }
}

/** The refusal that a method threw; what isn't one is a defect and goes on its way. */
function asRefusal(error: unknown): StatusError {
  if (isRefusal(error)) return error;
  throw error;
}
