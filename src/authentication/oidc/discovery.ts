import { RemoteFault } from "../../remote/answer-reader.ts";
import type { RemoteClient } from "../../remote/remote-client.ts";
import { claim, parseClaims, textClaim, type Claims } from "../jwt/claims.ts";

/** Returns the URL of a provider's discovery document (OpenID Connect Discovery 1.0). */
export function discoveryUrl(issuer: string): URL {
  return new URL(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
}

/**
 * Fetches the discovery document of a provider. It must have the same issuer.
 *
 * @param url that of the document, if it isn't the usual one.
 * @throws {RemoteFault}
 */
export async function discover(
  issuer: string,
  client: RemoteClient,
  url = discoveryUrl(issuer),
): Promise<Claims> {
  const document = await fetchJson(url, client);
  if (textClaim(document, "issuer") === issuer) return document;
  const actual = JSON.stringify(claim(document, "issuer") ?? null).slice(0, 200);
  throw new RemoteFault(`${url.href} has the issuer ${actual}, expected ${issuer}`, false);
}

/**
 * Fetches a JSON object.
 *
 * @throws {RemoteFault}
 */
export async function fetchJson(url: URL, client: RemoteClient): Promise<Claims> {
  const { status, bytes } = await client.send(url, {
    method: "GET",
    headers: { accept: "application/json" },
  });
  if (status !== 200) throw new RemoteFault(`${url.href} responded with status ${status}`, true);
  try {
    const document = parseClaims(bytes.toString("utf8"));
    if (document !== undefined) return document;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new RemoteFault(`${url.href} did not return a JSON object`, false);
}
