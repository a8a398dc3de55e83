/** The OpenID provider, as the server describes it. */
export interface Provider {
  readonly issuer: string;
  readonly clientId: string;
  /** Absent if the server can't reach the provider. */
  readonly endpoints?: {
    readonly authorization: string;
    readonly token: string;
    readonly scope: string;
  };
}

/** What must survive the redirect to the provider. It is of no use without the code that the provider answers with. */
export interface PendingSignIn {
  readonly state: string;
  readonly nonce: string;
  /** Code verifier of PKCE (RFC 7636). */
  readonly verifier: string;
  /** Fragment of the place to return to. */
  readonly place: string;
}

/** The query with which the provider leads back to the page: a code, or why there is none. */
export interface ProviderResponse {
  readonly state: string;
  readonly issuer: string | undefined;
  readonly code: string;
  /** Empty if there is a code. */
  readonly error: string;
}

/** Returns a new sign-in with random values. */
export function newSignIn(place: string): PendingSignIn {
  return { state: randomText(), nonce: randomText(), verifier: randomText(), place };
}

/** Returns 256 random bits in base64url. */
function randomText(): string {
  return base64Url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** Returns the URL at which the user signs in: the authorization code flow with PKCE. */
export async function authorizationUrl(
  { authorization, scope }: NonNullable<Provider["endpoints"]>,
  clientId: string,
  redirectUri: string,
  { state, nonce, verifier }: PendingSignIn,
): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const url = new URL(authorization);
  const parameters = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    scope,
    state,
    nonce,
    code_challenge: base64Url(new Uint8Array(digest)),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** Reads the query of the page's URL; undefined if it isn't a response of a provider. */
export function providerResponse(query: string): ProviderResponse | undefined {
  const parameters = new URLSearchParams(query);
  const state = parameters.get("state");
  const code = parameters.get("code") ?? "";
  const error = parameters.get("error") ?? "";
  if (state === null || (code === "" && error === "")) return undefined;
  return {
    state,
    issuer: parameters.get("iss") ?? undefined,
    code,
    error: errorText(error, parameters.get("error_description")),
  };
}

/** Returns the text of an error of OAuth (RFC 6749 sections 4.1.2.1 and 5.2). */
export function errorText(error: string, description: unknown): string {
  return typeof description === "string" && description !== "" ? `${error}: ${description}` : error;
}

/** Returns why a response is refused; undefined if it belongs to the sign-in. */
export function refusalOf(
  { state, issuer, error }: ProviderResponse,
  pending: PendingSignIn | undefined,
  provider: Provider,
): string | undefined {
  if (pending === undefined || state !== pending.state) {
    return "This response of the OpenID provider doesn't belong to a sign-in of this tab. Sign in again.";
  }
  if (issuer !== undefined && issuer !== provider.issuer) {
    return "The response comes from another OpenID provider than the server's. Sign in again.";
  }
  return error === "" ? undefined : `The OpenID provider refused the sign-in: ${error}`;
}
