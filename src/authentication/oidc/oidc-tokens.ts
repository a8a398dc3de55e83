import type { Clock } from "../../base/clock.ts";
import { andThen, type MaybePromise } from "../../base/maybe-promise.ts";
import type { UserInfo } from "../../base/user-info.ts";
import { RemoteFault } from "../../remote/answer-reader.ts";
import type { RemoteClient } from "../../remote/remote-client.ts";
import type { AuthenticationResult, Authenticator, Credentials } from "../authenticator.ts";
import { bearerToken } from "../bearer-token.ts";
import {
  audienceClaim,
  checkTimes,
  textClaim,
  timesOf,
  unverifiedClaims,
  unverifiedHeader,
  type TokenTimes,
} from "../jwt/claims.ts";
import { refusal } from "../refusal.ts";
import { TokenCache, type TokenCacheWatcher } from "../token-cache.ts";
import { userOf, what, type OidcMapping } from "./claims-to-user.ts";
import { withDistributedClaim } from "./distributed-claims.ts";
import { ProviderKeys } from "./provider-keys.ts";

/** The trusted issuer of ID tokens, and how their claims map to users (spec: conventions 5.6). */
export interface OidcOptions {
  readonly issuer: string;
  /** Tokens must be for this client. */
  readonly clientId: string;
  readonly mapping: OidcMapping;
  /** Algorithms that signatures may have. */
  readonly algorithms: readonly string[];
  /** Speaks with the provider. */
  readonly client: RemoteClient;
  readonly clock: Clock;
  /** Told when the provider can't be asked. */
  readonly failed: (error: RemoteFault) => void;
  readonly cacheWatcher: TokenCacheWatcher | undefined;
}

/** A token that is good within its times. */
interface Verified {
  readonly user: UserInfo;
  readonly times: TokenTimes;
  readonly bytes: number;
}

const limits = { foundMs: 30_000, missedMs: 2000, maxEntries: 10_000, maxBytes: 32 * 1024 * 1024 };
/** Not a moment after it expired; clocks may differ by five minutes when a token begins to hold. */
const leeway = { expirySeconds: 0, startSeconds: 300 };
/** So many issuers of claims that tokens leave to others are remembered. */
const maxOtherIssuers = 16;
/** A token of this type is for other services, not about who somebody is (RFC 9068). */
const accessTokenType = /^(application\/)?at\+jwt$/i;

/** Recognizes the ID tokens of one OpenID provider, by their issuer. */
export class OidcTokens implements Authenticator {
  private readonly cache: TokenCache<Verified>;
  private readonly keys: ProviderKeys;
  private readonly otherKeys = new Map<string, ProviderKeys>();

  constructor(private readonly options: OidcOptions) {
    const { clock, cacheWatcher, issuer } = options;
    this.cache = new TokenCache(clock, limits, ({ bytes }) => bytes, cacheWatcher);
    this.keys = this.newKeys(issuer);
  }

  authenticate({ authorization }: Credentials): MaybePromise<AuthenticationResult | undefined> {
    const token = bearerToken(authorization);
    if (token === undefined || !token.includes(".")) return undefined;
    const known = this.cache.get(token, [], () => this.verify(token));
    const answer = known instanceof Promise ? known.catch((error: unknown) => this.unasked(error)) : known;
    return andThen(answer, (verified) => {
      if (verified === undefined) return undefined;
      checkTimes(verified.times, this.options.clock.now(), leeway, what);
      return { user: verified.user, method: "oidc", cacheable: false };
    });
  }

  /** Asks the provider for its keys before the first token comes. That it is down keeps nothing else from working. */
  async prepare(): Promise<void> {
    try {
      await this.keys.prepare();
    } catch (error) {
      if (!(error instanceof RemoteFault)) throw error;
      this.options.failed(error);
    }
  }

  /** Without the provider a token can't be verified; that is not cached. */
  private unasked(error: unknown): never {
    if (!(error instanceof RemoteFault)) throw error;
    this.options.failed(error);
    throw refusal(`${what}: the provider can't be asked for its keys`);
  }

  private verify(token: string): Promise<Verified> | undefined {
    const claims = unverifiedClaims(token);
    if (claims === undefined || textClaim(claims, "iss") !== this.options.issuer) return undefined;
    return this.verifyNow(token);
  }

  private async verifyNow(token: string): Promise<Verified> {
    const { clientId, mapping, client, clock } = this.options;
    const { typ } = unverifiedHeader(token) ?? {};
    if (typeof typ === "string" && accessTokenType.test(typ)) {
      throw refusal(`${what}: an access token says nothing of who somebody is`);
    }
    const claims = await this.keys.verify(token, what);
    if (!(audienceClaim(claims) ?? []).includes(clientId)) {
      throw refusal(`${what}: the token is for another client`);
    }
    const times = timesOf(claims, what);
    if (times.expires === undefined) throw refusal(`${what}: the token never expires`);
    // When it was issued is not looked at: clocks differ, and it holds from `nbf` on.
    const relevant = { ...times, issued: undefined };
    checkTimes(relevant, clock.now(), leeway, what);
    const complete = await withDistributedClaim(claims, mapping.groupsClaim, {
      client,
      clientId,
      keysOf: (issuer) => this.keysOf(issuer),
      checkTimes: (found) => checkTimes({ ...found, issued: undefined }, clock.now(), leeway, what),
    });
    const user = userOf(complete, mapping);
    return { user, times: relevant, bytes: JSON.stringify(user).length * 2 };
  }

  private keysOf(issuer: string): ProviderKeys {
    if (issuer === this.options.issuer) return this.keys;
    const known = this.otherKeys.get(issuer) ?? this.newKeys(issuer);
    this.otherKeys.delete(issuer);
    this.otherKeys.set(issuer, known);
    for (const oldest of this.otherKeys.keys()) {
      if (this.otherKeys.size <= maxOtherIssuers) break;
      this.otherKeys.delete(oldest);
    }
    return known;
  }

  private newKeys(issuer: string): ProviderKeys {
    const { client, algorithms, clock } = this.options;
    return new ProviderKeys(issuer, client, algorithms, clock);
  }
}
