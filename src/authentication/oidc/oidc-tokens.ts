import type { Clock } from "../../base/time/clock.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
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
  type Claims,
  type TokenTimes,
  claim,
} from "../jwt/claims.ts";
import { refusal } from "../refusal.ts";
import { TokenCache, type TokenCacheWatcher } from "../token-cache.ts";
import { errorPrefix } from "./claims-to-user.ts";
import { ProviderKeys } from "./provider-keys.ts";

/** Maps the verified claims of a token to a user. */
export interface ClaimMapping {
  /** Claim with the groups, which may be a distributed claim; empty for none. */
  readonly groupsClaim: string;
  /** @throws {StatusError} Unauthorized if the claims are not accepted. */
  userOf(claims: Claims): MaybePromise<UserInfo>;
}

/** The trusted issuer of ID tokens and the mapping of their claims to users (spec: conventions 5.6). */
export interface OidcOptions {
  readonly issuer: string;
  /** URL of the discovery document; undefined: the usual one below the issuer. */
  readonly discoveryUrl?: string | undefined;
  /** A token must have one of these audiences. */
  readonly audiences: readonly string[];
  readonly mapping: ClaimMapping;
  /** Allowed signature algorithms. */
  readonly algorithms: readonly string[];
  /** HTTP client for requests to the provider. */
  readonly client: RemoteClient;
  readonly clock: Clock;
  /** Called when a request to the provider fails. */
  readonly failed: (error: RemoteFault) => void;
  readonly cacheWatcher: TokenCacheWatcher | undefined;
}

/** The cached result of a verified token; its times are checked at each request. */
interface Verified {
  readonly user: UserInfo;
  readonly times: TokenTimes;
  readonly bytes: number;
}

const limits = { validTtlMs: 30_000, invalidTtlMs: 2000, maxEntries: 10_000, maxBytes: 32 * 1024 * 1024 };
/** As in Kubernetes: no tolerance for `exp`, five minutes for `nbf`. */
const leeway = { expirySeconds: 0, notBeforeSeconds: 300 };
/** Maximum number of issuers of distributed claims whose keys are cached. */
const maxOtherIssuers = 16;
/** Type of an OAuth access token (RFC 9068), which is not an ID token. */
const accessTokenType = /^(application\/)?at\+jwt$/i;

/** Authenticates the ID tokens of one OpenID provider, selected by their issuer. */
export class OidcTokens implements Authenticator {
  private readonly cache: TokenCache<Verified>;
  private readonly providerKeys: ProviderKeys;
  private readonly claimIssuerKeys = new Map<string, ProviderKeys>();

  constructor(private readonly options: OidcOptions) {
    const { clock, cacheWatcher, issuer } = options;
    this.cache = new TokenCache(clock, limits, ({ bytes }) => bytes, cacheWatcher);
    this.providerKeys = this.createKeys(issuer, options.discoveryUrl);
  }

  authenticate({ authorization }: Credentials): MaybePromise<AuthenticationResult | undefined> {
    const token = bearerToken(authorization);
    if (token === undefined || !token.includes(".")) return undefined;
    const cached = this.cache.get(token, [], () => this.verify(token));
    const result =
      cached instanceof Promise ? cached.catch((error: unknown) => this.rejectUnverifiable(error)) : cached;
    return andThen(result, (verified) => {
      if (verified === undefined) return undefined;
      checkTimes(verified.times, this.options.clock.now(), leeway, errorPrefix);
      return { user: verified.user, method: "oidc", cacheable: false };
    });
  }

  /** Fetches the keys of the provider in advance. Reports a failure with `failed` and doesn't throw. */
  async prepare(): Promise<void> {
    try {
      await this.providerKeys.prepare();
    } catch (error) {
      if (!(error instanceof RemoteFault)) throw error;
      this.options.failed(error);
    }
  }

  /** Rejects a token that couldn't be verified because the provider is unavailable. Not cached. */
  private rejectUnverifiable(error: unknown): never {
    if (!(error instanceof RemoteFault)) throw error;
    this.options.failed(error);
    throw refusal(`${errorPrefix}: the keys of the provider are not available`);
  }

  private verify(token: string): Promise<Verified> | undefined {
    const claims = unverifiedClaims(token);
    if (claims === undefined || textClaim(claims, "iss") !== this.options.issuer) return undefined;
    return this.verifyIdToken(token);
  }

  private async verifyIdToken(token: string): Promise<Verified> {
    const { audiences, mapping, client, clock } = this.options;
    const { typ } = unverifiedHeader(token) ?? {};
    if (accessTokenType.test(String(typ))) {
      throw refusal(`${errorPrefix}: the token is an access token; an ID token is required`);
    }
    const claims = await this.providerKeys.verify(token, errorPrefix);
    if (audienceClaim(claims)?.some((one) => audiences.includes(one)) !== true) {
      throw refusal(`${errorPrefix}: the token is for another client`);
    }
    const times = timesOf(claims, errorPrefix);
    if (times.expires === undefined) throw refusal(`${errorPrefix}: the token has no expiry`);
    // As in Kubernetes, `iat` is not checked.
    const checkedTimes = { ...times, issued: undefined };
    checkTimes(checkedTimes, clock.now(), leeway, errorPrefix);
    const completeClaims = await withDistributedClaim(claims, mapping.groupsClaim, {
      client,
      audiences,
      keysOf: (issuer) => this.keysOf(issuer),
      checkTimes: (claimTimes) =>
        checkTimes({ ...claimTimes, issued: undefined }, clock.now(), leeway, errorPrefix),
    });
    const user = await mapping.userOf(completeClaims);
    return { user, times: checkedTimes, bytes: JSON.stringify(user).length * 2 };
  }

  private keysOf(issuer: string): ProviderKeys {
    if (issuer === this.options.issuer) return this.providerKeys;
    const keys = this.claimIssuerKeys.get(issuer) ?? this.createKeys(issuer);
    this.claimIssuerKeys.delete(issuer);
    this.claimIssuerKeys.set(issuer, keys);
    for (const oldest of this.claimIssuerKeys.keys()) {
      if (this.claimIssuerKeys.size <= maxOtherIssuers) break;
      this.claimIssuerKeys.delete(oldest);
    }
    return keys;
  }

  private createKeys(issuer: string, discoveryUrl?: string): ProviderKeys {
    const { client, algorithms, clock } = this.options;
    return new ProviderKeys({ issuer, discoveryUrl }, client, algorithms, clock);
  }
}

/** Source of a distributed claim. */
interface Source {
  readonly url: URL;
  readonly accessToken: string;
}

/** Dependencies for fetching distributed claims. */
interface ClaimFetching {
  readonly client: RemoteClient;
  /** The token of a source must have one of these audiences. */
  readonly audiences: readonly string[];
  /** Returns the keys of another issuer. */
  readonly keysOf: (issuer: string) => ProviderKeys;
  /** Checks the times of a token against the clock. */
  readonly checkTimes: (times: ReturnType<typeof timesOf>) => void;
}

/**
 * Fetches a distributed claim (OpenID Connect Core 1.0, section 5.6.2) if the token doesn't contain the claim itself, and returns
 * the claims with it. Providers use this for long lists of groups. The source returns a signed token with its own issuer.
 *
 * @throws {StatusError} Unauthorized if the source is missing or malformed, or its token is invalid.
 * @throws {RemoteFault} if the request to the source fails.
 */
async function withDistributedClaim(claims: Claims, name: string, fetching: ClaimFetching): Promise<Claims> {
  const source = name === "" || claim(claims, name) !== undefined ? undefined : sourceOf(claims, name);
  if (source === undefined) return claims;
  const token = await fetchToken(source, fetching.client);
  const issuer = textClaim(unverifiedClaims(token) ?? {}, "iss") ?? "";
  if (!URL.canParse(issuer) || new URL(issuer).protocol !== "https:") {
    throw refusal(`${errorPrefix}: the source of the claim ${JSON.stringify(name)} has no https issuer`);
  }
  const fetched = await fetching.keysOf(issuer).verify(token, errorPrefix);
  const times = timesOf(fetched, errorPrefix);
  const isForServer = (audienceClaim(fetched) ?? []).some((one) => fetching.audiences.includes(one));
  if (times.expires === undefined || !isForServer) {
    throw refusal(
      `${errorPrefix}: the source of the claim ${JSON.stringify(name)} has no expiry or another audience`,
    );
  }
  fetching.checkTimes(times);
  const value = claim(fetched, name);
  if (value === undefined) throw refusal(`${errorPrefix}: the source has no claim ${JSON.stringify(name)}`);
  return { ...claims, [name]: value };
}

/** Returns the source of a distributed claim; undefined without one, or for an aggregated claim (`JWT`). */
function sourceOf(claims: Claims, name: string): Source | undefined {
  const key = textClaim(fields(claims, "_claim_names"), name);
  if (key === undefined) return undefined;
  const source = fields(fields(claims, "_claim_sources"), key);
  const endpoint = textClaim(source, "endpoint") ?? "";
  if (endpoint === "") {
    if (claim(source, "JWT") !== undefined) return undefined;
    throw refusal(`${errorPrefix}: the source of the claim ${JSON.stringify(name)} is missing`);
  }
  if (!URL.canParse(endpoint) || new URL(endpoint).protocol !== "https:") {
    throw refusal(`${errorPrefix}: the source of the claim ${JSON.stringify(name)} is not an https URL`);
  }
  return { url: new URL(endpoint), accessToken: textClaim(source, "access_token") ?? "" };
}

async function fetchToken({ url, accessToken }: Source, client: RemoteClient): Promise<string> {
  const headers: Record<string, string> = { accept: "application/jwt" };
  if (accessToken !== "") {
    if (!/^[\x21-\x7e]+$/.test(accessToken))
      throw refusal(`${errorPrefix}: the access token of a claim source contains invalid characters`);
    headers["authorization"] = `Bearer ${accessToken}`;
  }
  const { status, bytes } = await client.send(url, { method: "GET", headers });
  if (status !== 200)
    throw new RemoteFault(`${url.origin}${url.pathname} responded with status ${status}`, false);
  return bytes.toString("utf8").trim();
}

function fields(claims: Claims, name: string): Claims {
  const value = claim(claims, name);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Claims) : {};
}
