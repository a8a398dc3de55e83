import { RemoteFault } from "../../remote/answer-reader.ts";
import type { RemoteClient } from "../../remote/remote-client.ts";
import { audienceClaim, claim, textClaim, timesOf, unverifiedClaims, type Claims } from "../jwt/claims.ts";
import { refusal } from "../refusal.ts";
import { what } from "./claims-to-user.ts";
import type { ProviderKeys } from "./provider-keys.ts";

/** Where a claim is that a token leaves to others. */
interface Source {
  readonly url: URL;
  readonly accessToken: string;
}

/** How claims are fetched from others. */
export interface ClaimFetching {
  readonly client: RemoteClient;
  readonly clientId: string;
  /** The keys of another issuer. */
  readonly keysOf: (issuer: string) => ProviderKeys;
  /** Holds the times of a token against the clock. */
  readonly checkTimes: (times: ReturnType<typeof timesOf>) => void;
}

/**
 * The claims with one that the token doesn't hold itself but says where it is (OpenID Connect Core 1.0, section 5.6.2):
 * a list of groups may be too long for a token. What is fetched is a signed token again, of an issuer of its own.
 *
 * @throws {StatusError} Unauthorized for a source that is missing or malformed, or whose token isn't good.
 * @throws {RemoteFault} when the source can't be asked.
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
    throw refusal(`${what}: the source of the claim ${JSON.stringify(name)} names no https issuer`);
  }
  const fetched = await fetching.keysOf(issuer).verify(token, what);
  const times = timesOf(fetched, what);
  if (times.expires === undefined || !(audienceClaim(fetched) ?? []).includes(fetching.clientId)) {
    throw refusal(`${what}: the source of the claim ${JSON.stringify(name)} answers for others`);
  }
  fetching.checkTimes(times);
  const value = claim(fetched, name);
  if (value === undefined) throw refusal(`${what}: the source has no claim ${JSON.stringify(name)}`);
  return { ...claims, [name]: value };
}

/** Where the claim is; undefined when the token says nothing of that, or holds it in another token. */
function sourceOf(claims: Claims, name: string): Source | undefined {
  const key = textClaim(fields(claims, "_claim_names"), name);
  if (key === undefined) return undefined;
  const source = fields(fields(claims, "_claim_sources"), key);
  const endpoint = textClaim(source, "endpoint") ?? "";
  if (endpoint === "") {
    if (claim(source, "JWT") !== undefined) return undefined;
    throw refusal(`${what}: the source of the claim ${JSON.stringify(name)} is missing`);
  }
  if (!URL.canParse(endpoint) || new URL(endpoint).protocol !== "https:") {
    throw refusal(`${what}: the source of the claim ${JSON.stringify(name)} is not an https URL`);
  }
  return { url: new URL(endpoint), accessToken: textClaim(source, "access_token") ?? "" };
}

async function fetchToken({ url, accessToken }: Source, client: RemoteClient): Promise<string> {
  const headers: Record<string, string> = { accept: "application/jwt" };
  if (accessToken !== "") {
    if (!/^[\x21-\x7e]+$/.test(accessToken)) throw refusal(`${what}: an access token that can't be sent`);
    headers["authorization"] = `Bearer ${accessToken}`;
  }
  const { status, bytes } = await client.send(url, { method: "GET", headers });
  if (status !== 200)
    throw new RemoteFault(`${url.origin}${url.pathname} answers with status ${status}`, false);
  return bytes.toString("utf8").trim();
}

function fields(claims: Claims, name: string): Claims {
  const value = claim(claims, name);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Claims) : {};
}
