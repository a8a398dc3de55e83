import { StatusError } from "../base/status-error.ts";
import { shownUser, type ShownUser } from "../base/user-info.ts";
import type { Authenticator } from "./authenticator.ts";
import { isRefusal, reasonOf } from "./refusal.ts";

/** What is asked of a token (spec: conventions 5.7). */
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
 * Says whom a token belongs to, by the same methods by which requests are authenticated.
 *
 * @param ownAudiences those that stand for this server; tokens without audiences of their own are meant for them.
 * @throws {StatusError} BadRequest without a token.
 */
export async function reviewToken(
  { token = "", audiences = [] }: TokenReviewSpec,
  authenticator: Authenticator,
  ownAudiences: readonly string[],
): Promise<TokenReviewStatus> {
  if (token === "")
    throw new StatusError("BadRequest", "token is required for TokenReview in authentication");
  const asked = audiences.length > 0 ? audiences : ownAudiences;
  try {
    const result = await authenticator.authenticate({
      authorization: `Bearer ${token}`,
      certificate: undefined,
      remoteAddress: "",
      audiences: asked,
    });
    // Whoever shows no token at all may be let in as nobody; that says nothing of a token.
    if (result === undefined || result.method === "anonymous") return failed(invalidToken);
    // A method that knows no audiences vouches for this server's.
    const shared = result.audiences ?? asked.filter((one) => ownAudiences.includes(one));
    if (shared.length === 0) return failed(invalidToken);
    return { authenticated: true, user: shownUser(result.user), audiences: shared };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return failed(reasonOf(error));
  }
}

/** As the reference prints it: a status that isn't authenticated leaves that out, and its user is empty. */
function failed(why: string): TokenReviewStatus {
  return { user: {}, error: why === "" ? invalidToken : why };
}

const invalidToken = "invalid bearer token";
