import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import { RemoteFault } from "../../remote/answer-reader.ts";
import type { RemoteClient } from "../../remote/remote-client.ts";
import { claimsIn, claim, textClaim, unverifiedHeader, type Claims } from "../jwt/claims.ts";
import { algorithmsOf, verifiedClaims, type VerificationKey } from "../jwt/signature.ts";
import { isRefusal } from "../refusal.ts";

/** Keys this old are fetched anew, so that one that the provider took back doesn't verify for ever. */
const maxAgeMs = 10 * 60_000;
/** A token with an unknown key lets the keys be fetched, but not more often than this. */
const minFetchGapMs = 2000;
/** After the provider couldn't be asked, it isn't asked again for this time. */
const retryMs = 1000;
const maxKeys = 100;
const minRsaBits = 2048;

/** What a provider's configuration says, and its keys. */
interface Known {
  readonly keys: readonly VerificationKey[];
  readonly fetchedMs: number;
}

/**
 * The keys of an OpenID provider (OpenID Connect Discovery 1.0): found when they are first needed, fetched again when a
 * token has a key that isn't known and from time to time. While the provider is down, the keys that are known count.
 */
export class ProviderKeys {
  private keysUrl: URL | undefined;
  private known: Known | undefined;
  private fetching: Promise<Known> | undefined;
  private failure: { readonly error: RemoteFault; readonly untilMs: number } | undefined;

  /**
   * @param issuer the provider's URL, as its configuration and its tokens must name it.
   * @param algorithms those that signatures may have.
   */
  constructor(
    readonly issuer: string,
    private readonly client: RemoteClient,
    private readonly algorithms: readonly string[],
    private readonly clock: Clock,
  ) {}

  /**
   * The claims of a token that the provider signed.
   *
   * @throws {StatusError} Unauthorized when no key of the provider verifies the signature.
   * @throws {RemoteFault} when the provider must be asked and can't be.
   */
  async verify(token: string, what: string): Promise<Claims> {
    const before = await this.current();
    const { kid } = unverifiedHeader(token) ?? {};
    const knows = typeof kid !== "string" || before.keys.some(({ id }) => id === kid);
    if (knows || !this.mayFetch(before)) {
      try {
        return await verifiedClaims(token, before.keys, what);
      } catch (error) {
        if (!isRefusal(error) || !this.mayFetch(before)) throw error;
      }
    }
    return verifiedClaims(token, (await this.fetch()).keys, what);
  }

  /** Finds the keys, so that the first token needn't wait. */
  async prepare(): Promise<void> {
    await this.current();
  }

  /** The keys, fetched if there are none or they are old. */
  private async current(): Promise<Known> {
    const { known } = this;
    if (known !== undefined && this.clock.monotonicNow() - known.fetchedMs < maxAgeMs) return known;
    try {
      return await this.fetch();
    } catch (error) {
      if (known === undefined || !(error instanceof RemoteFault)) throw error;
      return known;
    }
  }

  private mayFetch({ fetchedMs }: Known): boolean {
    return this.clock.monotonicNow() - fetchedMs >= minFetchGapMs;
  }

  private fetch(): Promise<Known> {
    if (this.failure !== undefined && this.clock.monotonicNow() < this.failure.untilMs) {
      return Promise.reject(this.failure.error);
    }
    return (this.fetching ??= this.fetchNow().finally(() => {
      this.fetching = undefined;
    }));
  }

  private async fetchNow(): Promise<Known> {
    try {
      this.keysUrl ??= await this.discover();
      const document = await this.document(this.keysUrl);
      this.known = { keys: this.keysIn(document), fetchedMs: this.clock.monotonicNow() };
      this.failure = undefined;
      return this.known;
    } catch (error) {
      // The keys may have moved.
      this.keysUrl = undefined;
      if (error instanceof RemoteFault)
        this.failure = { error, untilMs: this.clock.monotonicNow() + retryMs };
      throw error;
    }
  }

  /** Where the provider says that its keys are. */
  private async discover(): Promise<URL> {
    const url = new URL(`${this.issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
    const document = await this.document(url);
    if (textClaim(document, "issuer") !== this.issuer) {
      const named = JSON.stringify(claim(document, "issuer") ?? null).slice(0, 200);
      throw new RemoteFault(`${url.href} is the configuration of the issuer ${named}`, false);
    }
    const keys = textClaim(document, "jwks_uri") ?? "";
    if (!URL.canParse(keys) || new URL(keys).protocol !== "https:") {
      throw new RemoteFault(`${url.href} names no https URL as jwks_uri`, false);
    }
    return new URL(keys);
  }

  private async document(url: URL): Promise<Claims> {
    const { status, bytes } = await this.client.send(url, {
      method: "GET",
      headers: { accept: "application/json" },
    });
    if (status !== 200) throw new RemoteFault(`${url.href} answers with status ${status}`, true);
    try {
      const document = claimsIn(bytes.toString("utf8"));
      if (document !== undefined) return document;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    throw new RemoteFault(`${url.href} does not answer with a JSON object`, false);
  }

  private keysIn(document: Claims): VerificationKey[] {
    const listed = claim(document, "keys");
    if (!Array.isArray(listed)) throw new RemoteFault(`the keys of ${this.issuer} are no list`, false);
    return listed.slice(0, maxKeys).flatMap((one: unknown) => this.keyOf(one) ?? []);
  }

  /** A key that verifies signatures; undefined for those of other sorts and uses, which a provider may have too. */
  private keyOf(value: unknown): VerificationKey | undefined {
    if (typeof value !== "object" || value === null) return undefined;
    const { use = "sig", kid = "", alg } = value as { use?: unknown; kid?: unknown; alg?: unknown };
    const key = use === "sig" ? parsed(value as JsonWebKey) : undefined;
    if (key === undefined || typeof kid !== "string") return undefined;
    const algorithms = algorithmsOf(key).filter(
      (one) => this.algorithms.includes(one) && (alg === undefined || alg === one),
    );
    return algorithms.length === 0 ? undefined : { id: kid, key, algorithms };
  }
}

function parsed(jwk: JsonWebKey): KeyObject | undefined {
  if (jwk.kty !== "RSA" && jwk.kty !== "EC") return undefined;
  let key: KeyObject;
  try {
    // Only what is public of it.
    const { kty, n, e, crv, x, y } = jwk;
    key = createPublicKey({ key: { kty, n, e, crv, x, y } as JsonWebKey, format: "jwk" });
  } catch {
    return undefined;
  }
  const bits = key.asymmetricKeyDetails?.modulusLength ?? minRsaBits;
  return bits < minRsaBits ? undefined : key;
}
