import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import type { Clock } from "../../base/time/clock.ts";
import { RemoteFault } from "../../remote/answer-reader.ts";
import type { RemoteClient } from "../../remote/remote-client.ts";
import { claim, textClaim, unverifiedHeader, type Claims } from "../jwt/claims.ts";
import { algorithmsOf, verifyClaims, type VerificationKey } from "../jwt/signature.ts";
import { isRefusal } from "../refusal.ts";
import { discover, discoveryUrl, fetchJson } from "./discovery.ts";

/** Keys are fetched again after this time, so that revoked keys become invalid. */
const maxAgeMs = 10 * 60_000;
/** Minimum time between two fetches because of tokens with an unknown key. */
const minFetchIntervalMs = 2000;
/** After a failed request, no further request is sent for this time. */
const retryMs = 1000;
const maxKeys = 100;
const minRsaBits = 2048;

/** Cached keys of a provider; `fetchedMs` is monotonic. */
interface CachedKeys {
  readonly keys: readonly VerificationKey[];
  readonly fetchedMs: number;
}

/**
 * The keys of an OpenID provider (OpenID Connect Discovery 1.0). They are fetched when they are first needed, after
 * {@link maxAgeMs}, and when a token has an unknown key. While the provider is unavailable, the cached keys are used.
 */
export class ProviderKeys {
  private keysUrl: URL | undefined;
  private cached: CachedKeys | undefined;
  private fetching: Promise<CachedKeys> | undefined;
  private failure: { readonly error: RemoteFault; readonly untilMs: number } | undefined;

  private readonly issuer: string;
  private readonly discoveryUrl: URL;

  /**
   * @param provider URL of the issuer, which must be that of the discovery document and of the tokens, and URL of the document if it isn't
   *   the usual one below the issuer.
   * @param algorithms allowed signature algorithms.
   */
  constructor(
    provider: { readonly issuer: string; readonly discoveryUrl?: string | undefined },
    private readonly client: RemoteClient,
    private readonly algorithms: readonly string[],
    private readonly clock: Clock,
  ) {
    this.issuer = provider.issuer;
    this.discoveryUrl =
      provider.discoveryUrl === undefined ? discoveryUrl(this.issuer) : new URL(provider.discoveryUrl);
  }

  /**
   * Verifies the signature of a token and returns its claims.
   *
   * @throws {StatusError} Unauthorized if no key of the provider verifies the signature.
   * @throws {RemoteFault} if the keys must be fetched and the request fails.
   */
  async verify(token: string, errorPrefix: string): Promise<Claims> {
    const currentKeys = await this.currentKeys();
    const { kid } = unverifiedHeader(token) ?? {};
    const isKnownKey = typeof kid !== "string" || currentKeys.keys.some(({ id }) => id === kid);
    if (isKnownKey || !this.mayFetch(currentKeys)) {
      try {
        return await verifyClaims(token, currentKeys.keys, errorPrefix);
      } catch (error) {
        if (!isRefusal(error) || !this.mayFetch(currentKeys)) throw error;
      }
    }
    return verifyClaims(token, (await this.fetch()).keys, errorPrefix);
  }

  /** Fetches the keys in advance. */
  async prepare(): Promise<void> {
    await this.currentKeys();
  }

  /** Returns the cached keys; fetches them if there are none or they are too old. */
  private async currentKeys(): Promise<CachedKeys> {
    const { cached } = this;
    if (cached !== undefined && this.clock.monotonicNow() - cached.fetchedMs < maxAgeMs) return cached;
    try {
      return await this.fetch();
    } catch (error) {
      if (cached === undefined || !(error instanceof RemoteFault)) throw error;
      return cached;
    }
  }

  private mayFetch({ fetchedMs }: CachedKeys): boolean {
    return this.clock.monotonicNow() - fetchedMs >= minFetchIntervalMs;
  }

  private fetch(): Promise<CachedKeys> {
    if (this.failure !== undefined && this.clock.monotonicNow() < this.failure.untilMs) {
      return Promise.reject(this.failure.error);
    }
    return (this.fetching ??= this.fetchNow().finally(() => {
      this.fetching = undefined;
    }));
  }

  private async fetchNow(): Promise<CachedKeys> {
    try {
      this.keysUrl ??= await this.discoverKeysUrl();
      const document = await fetchJson(this.keysUrl, this.client);
      this.cached = { keys: this.parseKeys(document), fetchedMs: this.clock.monotonicNow() };
      this.failure = undefined;
      return this.cached;
    } catch (error) {
      // The URL of the keys may have changed.
      this.keysUrl = undefined;
      if (error instanceof RemoteFault)
        this.failure = { error, untilMs: this.clock.monotonicNow() + retryMs };
      throw error;
    }
  }

  /** Returns `jwks_uri` of the discovery document. */
  private async discoverKeysUrl(): Promise<URL> {
    const url = this.discoveryUrl;
    const keys = textClaim(await discover(this.issuer, this.client, url), "jwks_uri") ?? "";
    if (!URL.canParse(keys) || new URL(keys).protocol !== "https:") {
      throw new RemoteFault(`${url.href} has no https URL in jwks_uri`, false);
    }
    return new URL(keys);
  }

  private parseKeys(document: Claims): VerificationKey[] {
    const entries = claim(document, "keys");
    if (!Array.isArray(entries)) throw new RemoteFault(`the keys of ${this.issuer} are not an array`, false);
    return entries.slice(0, maxKeys).flatMap((one: unknown) => this.parseKey(one) ?? []);
  }

  /** Parses a JSON Web Key; undefined if it isn't for signatures or has another type. */
  private parseKey(value: unknown): VerificationKey | undefined {
    if (typeof value !== "object" || value === null) return undefined;
    const { use = "sig", kid = "", alg } = value as { use?: unknown; kid?: unknown; alg?: unknown };
    const key = use === "sig" ? parseJwk(value as JsonWebKey) : undefined;
    if (key === undefined || typeof kid !== "string") return undefined;
    const algorithms = algorithmsOf(key).filter(
      (one) => this.algorithms.includes(one) && (alg === undefined || alg === one),
    );
    return algorithms.length === 0 ? undefined : { id: kid, key, algorithms };
  }
}

function parseJwk(jwk: JsonWebKey): KeyObject | undefined {
  if (jwk.kty !== "RSA" && jwk.kty !== "EC") return undefined;
  let key: KeyObject;
  try {
    // Only the public members.
    const { kty, n, e, crv, x, y } = jwk;
    key = createPublicKey({ key: { kty, n, e, crv, x, y } as JsonWebKey, format: "jwk" });
  } catch {
    return undefined;
  }
  const bits = key.asymmetricKeyDetails?.modulusLength ?? minRsaBits;
  return bits < minRsaBits ? undefined : key;
}
