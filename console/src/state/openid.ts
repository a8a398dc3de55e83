import { messageOf } from "../api/client.ts";
import { exchangeCode, readProvider } from "../api/openid.ts";
import {
  authorizationUrl,
  newSignIn,
  providerResponse,
  refusalOf,
  type PendingSignIn,
  type Provider,
  type ProviderResponse,
} from "../model/openid.ts";
import { session, signIn, signOut } from "./session.ts";

/** Key in the storage of the tab, from the redirect to the provider until the page is loaded again. */
const pendingKey = "plinth-console-sign-in";

function redirectUri(): string {
  return `${location.origin}/console/`;
}

/** Goes to the OpenID provider, which leads back to this page. */
export async function signInWithProvider({ clientId, endpoints }: Provider): Promise<void> {
  if (!isSecureContext) return signOut("The sign-in with an OpenID provider needs https.");
  const pending = newSignIn(`${location.search}${location.hash}`);
  const url = await authorizationUrl(endpoints!, clientId, redirectUri(), pending);
  try {
    sessionStorage.setItem(pendingKey, JSON.stringify(pending));
  } catch {
    return signOut("The sign-in with an OpenID provider needs the browser's session storage.");
  }
  location.assign(url);
}

/** A response of the provider, and the sign-in of this tab that it should belong to. */
export interface ReceivedResponse {
  readonly response: ProviderResponse;
  readonly pending: PendingSignIn | undefined;
}

/**
 * Removes a response of the provider from the URL and its history entry, and what was stored for it; returns to the place before the
 * redirect. Undefined if there is no response.
 */
export function takeProviderResponse(): ReceivedResponse | undefined {
  const pending = takePending();
  const response = providerResponse(location.search);
  if (response === undefined) return undefined;
  history.replaceState(null, "", `${location.pathname}${pending?.place ?? ""}`);
  return { response, pending };
}

function takePending(): PendingSignIn | undefined {
  try {
    const text = sessionStorage.getItem(pendingKey);
    sessionStorage.removeItem(pendingKey);
    return text === null ? undefined : (JSON.parse(text) as PendingSignIn);
  } catch {
    // The user has forbidden storage.
    return undefined;
  }
}

/** Exchanges the code of a response for an ID token, and signs in with it. */
export async function finishSignIn({ response, pending }: ReceivedResponse): Promise<void> {
  session.value = { kind: "signing-in" };
  try {
    const provider = await readProvider();
    if (provider === undefined) return signOut("The server has no OpenID provider.");
    const refusal = refusalOf(response, pending, provider);
    if (refusal !== undefined) return signOut(refusal);
    await signIn(await exchangeCode(provider, redirectUri(), response.code, pending!));
  } catch (error) {
    signOut(messageOf(error));
  }
}
