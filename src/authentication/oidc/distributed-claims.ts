import { RemoteFault } from "../../remote/answer-reader.ts";
import type { RemoteClient } from "../../remote/remote-client.ts";
import { audienceClaim, claim, textClaim, timesOf, unverifiedClaims, type Claims } from "../jwt/claims.ts";
import { refusal } from "../refusal.ts";
import { errorPrefix } from "./claims-to-user.ts";
import type { ProviderKeys } from "./provider-keys.ts";

/** Source of a distributed claim. */
interface Source {
  readonly url: URL;
  readonly accessToken: string;
}

/** Dependencies for fetching distributed claims. */
export interface ClaimFetching {
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
export async function withDistributedClaim(
  claims: Claims,
  name: string,
  fetching: ClaimFetching,
): Promise<Claims> {
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
