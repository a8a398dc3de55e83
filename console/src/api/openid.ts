import { errorText, type PendingSignIn, type Provider } from "../model/openid.ts";
import { claimsOf } from "../model/tokens.ts";
import { errorOf, sendWith } from "./client.ts";

/** Returns the OpenID provider of the server; undefined if it has none. @throws as `send` */
export async function readProvider(): Promise<Provider | undefined> {
  const response = await sendWith({ token: undefined }, "/console/sign-in");
  if (!response.ok) throw await errorOf(response);
  return ((await response.json()) as { readonly openid?: Provider }).openid;
}

/**
 * Exchanges an authorization code for an ID token, as a public client.
 *
 * @throws {Error} if the provider refuses it, can't be reached, or sends the token of another sign-in.
 */
export async function exchangeCode(
  provider: Provider,
  redirectUri: string,
  code: string,
  { verifier, nonce }: PendingSignIn,
): Promise<string> {
  const endpoint = provider.endpoints?.token;
  if (endpoint === undefined) throw new Error("The server can't reach the OpenID provider. Try again later.");
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    code,
    redirect_uri: redirectUri,
    client_id: provider.clientId,
    code_verifier: verifier,
  });
  const response = await fetch(endpoint, {
    method: "POST",
    body,
    credentials: "omit",
    redirect: "error",
    cache: "no-store",
  }).catch(() => {
    const { origin } = new URL(endpoint);
    throw new Error(`${origin} can't be reached, or doesn't allow requests from ${location.origin} (CORS).`);
  });
  const answer = (await response.json().catch(() => ({}))) as Readonly<Record<string, unknown>>;
  const { id_token: token, error, error_description: description } = answer;
  if (!response.ok || typeof token !== "string") {
    const reason =
      typeof error === "string" ? errorText(error, description) : `status ${response.status}, no ID token`;
    throw new Error(`The OpenID provider didn't exchange the code: ${reason}`);
  }
  if (claimsOf(token)?.["nonce"] !== nonce) {
    throw new Error("The ID token has another nonce than this sign-in. Sign in again.");
  }
  return token;
}
