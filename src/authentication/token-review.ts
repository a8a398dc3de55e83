import { StatusError } from "../base/status-error.ts";
import { shownUser, type ShownUser } from "../base/user-info.ts";
import type { Authenticator } from "./authenticator.ts";
import { isRefusal, reasonOf } from "./refusal.ts";

/** Spec of a TokenReview (spec: conventions 5.7). */
export interface TokenReviewSpec {
  readonly token?: string | undefined;
  readonly audiences?: readonly string[] | undefined;
}

export interface TokenReviewStatus {
  readonly authenticated?: boolean;
  readonly user?: Partial<ShownUser>;
  readonly audiences?: readonly string[];
  readonly error?: string;
}

/**
 * Authenticates a token with the request authenticators (TokenReview).
 *
 * @param ownAudiences audiences of this server. Tokens without audiences are valid for them.
 * @throws {StatusError} BadRequest without a token.
 */
export async function reviewToken(
  { token = "", audiences = [] }: TokenReviewSpec,
  authenticator: Authenticator,
  ownAudiences: readonly string[],
): Promise<TokenReviewStatus> {
  if (token === "")
    throw new StatusError("BadRequest", "token is required for TokenReview in authentication");
  const requestedAudiences = audiences.length > 0 ? audiences : ownAudiences;
  try {
    const result = await authenticator.authenticate({
      authorization: `Bearer ${token}`,
      certificate: undefined,
      remoteAddress: "",
      audiences: requestedAudiences,
    });
    // The anonymous user means that no method accepted the token.
    if (result === undefined || result.method === "anonymous") return invalidStatus(invalidToken);
    // A method without audiences is valid for those of this server.
    const validAudiences = result.audiences ?? requestedAudiences.filter((one) => ownAudiences.includes(one));
    if (validAudiences.length === 0) return invalidStatus(invalidToken);
    return { authenticated: true, user: shownUser(result.user), audiences: validAudiences };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return invalidStatus(reasonOf(error));
  }
}

/** Returns the status of an invalid token as in Kubernetes: without `authenticated` and with an empty user. */
function invalidStatus(reason: string): TokenReviewStatus {
  return { user: {}, error: reason === "" ? invalidToken : reason };
}

const invalidToken = "invalid bearer token";
