import type { Clock } from "../../base/clock.ts";
import { andThen, type MaybePromise } from "../../base/maybe-promise.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { AuthenticationResult, Authenticator, Credentials } from "../authenticator.ts";
import { bearerToken } from "../bearer-token.ts";
import { audienceClaim, textClaim, unverifiedClaims } from "../jwt/claims.ts";
import { verifiedClaims, type VerificationKey } from "../jwt/signature.ts";
import type { LiveObjects } from "../live-objects.ts";
import { refusal } from "../refusal.ts";
import { TokenCache, type TokenCacheWatcher } from "../token-cache.ts";
import { BoundTokens, what, type TokenUse } from "./bound-claims.ts";
import { LegacyTokens } from "./legacy-claims.ts";

/** How service accounts' tokens are verified. */
export interface ServiceAccountTokenOptions {
  readonly vocabulary: Vocabulary;
  /** Who may have issued tokens (`--service-account-issuer`); the first one issues new ones. */
  readonly issuers: readonly string[];
  /** Who this server is to tokens (`--api-audiences`). */
  readonly ownAudiences: readonly string[];
  readonly keys: readonly VerificationKey[];
  /** Whether tokens of Secrets end with their Secret (`--service-account-lookup`). */
  readonly lookup: boolean;
  readonly live: LiveObjects;
  readonly clock: Clock;
  readonly used: TokenUse;
  readonly cacheWatcher: TokenCacheWatcher | undefined;
}

/** A token whose signature is good; whether it holds is judged at each request. */
interface Verified {
  readonly audiences: readonly string[];
  /** The account, if the token holds now; see {@link BoundTokens.judgeOf}. */
  readonly judge: (token: string) => MaybePromise<UserInfo>;
  readonly bytes: number;
}

/**
 * Only that a signature is good is remembered. It stays so for as long as the server runs, so the time bounds memory
 * alone; whether the account is still there is asked each time.
 */
const cacheLimits = { foundMs: 5 * 60_000, missedMs: 5000, maxEntries: 10_000, maxBytes: 16 * 1024 * 1024 };

/** Recognizes the signed tokens of service accounts (spec: conventions 5.5), by their issuer. */
export class ServiceAccountTokens implements Authenticator {
  private readonly cache: TokenCache<Verified>;
  private readonly bound: BoundTokens;
  private readonly legacy: LegacyTokens;

  constructor(private readonly options: ServiceAccountTokenOptions) {
    const { vocabulary, live, clock, used, lookup, cacheWatcher } = options;
    this.cache = new TokenCache(clock, cacheLimits, ({ bytes }) => bytes, cacheWatcher);
    this.bound = new BoundTokens(vocabulary, live, clock, used);
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

  /** Verifies the signature of a token that names one of the issuers; undefined at once for others. */
  private verify(token: string): Promise<Verified> | undefined {
    const claims = unverifiedClaims(token);
    const issuer = claims === undefined ? undefined : textClaim(claims, "iss");
    if (issuer === undefined) return undefined;
    const legacy = issuer === this.options.vocabulary.legacyTokenIssuer;
    if (!legacy && !this.options.issuers.includes(issuer)) return undefined;
    return this.verifySignature(token, legacy);
  }

  private async verifySignature(token: string, legacy: boolean): Promise<Verified> {
    const claims = await verifiedClaims(token, this.options.keys, what);
    const audiences = audienceClaim(claims);
    if (audiences === undefined) throw refusal(`${what}: the claim "aud" is not a list of texts`);
    const judge = (legacy ? this.legacy : this.bound).judgeOf(claims);
    return { audiences, judge, bytes: token.length * 4 };
  }

  private accept(
    { audiences: named, judge }: Verified,
    token: string,
    asked: readonly string[] | undefined,
  ): MaybePromise<AuthenticationResult> {
    const { ownAudiences, used } = this.options;
    // Without audiences, those of this server are meant.
    const meant = named.length === 0 ? ownAudiences : named;
    const audiences = (asked ?? ownAudiences).filter((one) => meant.includes(one));
    if (audiences.length === 0) throw refusal(`${what}: it is meant for other audiences`);
    return andThen(judge(token), (user) => {
      if (named.length === 0) used("legacy");
      return { user, method: "service-account", cacheable: false, audiences };
    });
  }
}
