import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { AuthenticationResult, Authenticator, Credentials } from "../authenticator.ts";
import { bearerToken } from "../bearer-token.ts";
import { textClaim, unverifiedClaims } from "../jwt/claims.ts";
import type { OidcTokens } from "../oidc/oidc-tokens.ts";

/** Authenticates the tokens of the issuers of a configuration, which can be replaced. */
export class ConfiguredTokens implements Authenticator {
  private byIssuer: ReadonlyMap<string, OidcTokens> = new Map();

  /** @param byIssuer authenticators by the claim `iss` of their tokens. */
  replace(byIssuer: ReadonlyMap<string, OidcTokens>): void {
    this.byIssuer = byIssuer;
  }

  authenticate(credentials: Credentials): MaybePromise<AuthenticationResult | undefined> {
    const token = bearerToken(credentials.authorization);
    if (this.byIssuer.size === 0 || token === undefined || !token.includes(".")) return undefined;
    const issuer = textClaim(unverifiedClaims(token) ?? {}, "iss");
    return issuer === undefined ? undefined : this.byIssuer.get(issuer)?.authenticate(credentials);
  }
}
