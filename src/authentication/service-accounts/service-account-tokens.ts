import type { Clock } from "../../base/time/clock.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { AuthenticationResult, Authenticator, Credentials } from "../authenticator.ts";
import { bearerToken } from "../bearer-token.ts";
import { audienceClaim, textClaim, unverifiedClaims } from "../jwt/claims.ts";
import { verifyClaims, type VerificationKey } from "../jwt/signature.ts";
import type { LiveObjects } from "../live-objects.ts";
import { refusal } from "../refusal.ts";
import { TokenCache, type TokenCacheWatcher } from "../token-cache.ts";
import { BoundTokens, errorPrefix, type BoundClaimFeatures, type TokenUse } from "./bound-claims.ts";
import { LegacyTokens } from "./legacy-claims.ts";

export interface ServiceAccountTokenOptions {
  readonly vocabulary: Vocabulary;
  /** Accepted issuers (`--service-account-issuer`); new tokens have the first one. */
  readonly issuers: readonly string[];
  /** Issuer of tokens in Secrets. */
  readonly legacyIssuer: string;
  /** Audiences of this server (`--api-audiences`). */
  readonly ownAudiences: readonly string[];
  readonly keys: readonly VerificationKey[];
  /** Whether tokens of Secrets require that the Secret exists (`--service-account-lookup`). */
  readonly lookup: boolean;
  readonly live: LiveObjects;
  readonly clock: Clock;
  readonly onUse: TokenUse;
  readonly features: BoundClaimFeatures;
  readonly cacheWatcher: TokenCacheWatcher | undefined;
}

/** A token with verified signature; it is validated at each request. */
interface Verified {
  readonly audiences: readonly string[];
  /** Returns the service account if the token is valid now; see {@link BoundTokens.validatorFor}. */
  readonly validate: (token: string) => MaybePromise<UserInfo>;
  readonly bytes: number;
}

/**
 * Only the verification of the signature is cached. It doesn't expire, so the time only limits memory; objects are checked at each
 * request.
 */
const cacheLimits = {
  validTtlMs: 5 * 60_000,
  invalidTtlMs: 5000,
  maxEntries: 10_000,
  maxBytes: 16 * 1024 * 1024,
};

/** Authenticates service account tokens (spec: conventions 5.5), selected by their issuer. */
export class ServiceAccountTokens implements Authenticator {
  private readonly cache: TokenCache<Verified>;
  private readonly bound: BoundTokens;
  private readonly legacy: LegacyTokens;

  constructor(private readonly options: ServiceAccountTokenOptions) {
    const { vocabulary, live, clock, onUse, lookup, cacheWatcher, features } = options;
    this.cache = new TokenCache(clock, cacheLimits, ({ bytes }) => bytes, cacheWatcher);
    this.bound = new BoundTokens(vocabulary, live, clock, onUse, features);
    this.legacy = new LegacyTokens(vocabulary, live, lookup);
  }

  authenticate({ authorization, audiences }: Credentials): MaybePromise<AuthenticationResult | undefined> {
    const token = bearerToken(authorization);
    if (token === undefined || !token.includes(".")) return undefined;
    return andThen(
      this.cache.get(token, [], () => this.verify(token)),
      (verified) => (verified === undefined ? undefined : this.accept(verified, token, audiences)),
    );
  }

  /** Verifies the signature of a token of an accepted issuer; undefined for others. */
  private verify(token: string): Promise<Verified> | undefined {
    const claims = unverifiedClaims(token);
    const issuer = claims === undefined ? undefined : textClaim(claims, "iss");
    if (issuer === undefined) return undefined;
    const legacy = issuer === this.options.legacyIssuer;
    if (!legacy && !this.options.issuers.includes(issuer)) return undefined;
    return this.verifySignature(token, legacy);
  }

  private async verifySignature(token: string, legacy: boolean): Promise<Verified> {
    const claims = await verifyClaims(token, this.options.keys, errorPrefix);
    const audiences = audienceClaim(claims);
    if (audiences === undefined)
      throw refusal(`${errorPrefix}: the claim "aud" is not a string or an array of strings`);
    const validate = (legacy ? this.legacy : this.bound).validatorFor(claims);
    return { audiences, validate: validate, bytes: token.length * 4 };
  }

  private accept(
    { audiences: tokenAudiences, validate }: Verified,
    token: string,
    requestedAudiences: readonly string[] | undefined,
  ): MaybePromise<AuthenticationResult> {
    const { ownAudiences, onUse } = this.options;
    // A token without audiences is valid for those of this server.
    const validAudiences = tokenAudiences.length === 0 ? ownAudiences : tokenAudiences;
    const audiences = (requestedAudiences ?? ownAudiences).filter((one) => validAudiences.includes(one));
    if (audiences.length === 0) throw refusal(`${errorPrefix}: the token is for other audiences`);
    return andThen(validate(token), (user) => {
      if (tokenAudiences.length === 0) onUse("legacy");
      return { user, method: "service-account", cacheable: false, audiences };
    });
  }
}
