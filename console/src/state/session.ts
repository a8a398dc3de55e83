import { computed, signal } from "@preact/signals";
import { AccessReviews } from "../api/access.ts";
import { errorOf, messageOf, onUnauthorized, sendWith, setToken } from "../api/client.ts";
import { readTypes, type ServerTypes } from "../api/discovery.ts";
import { pathOf } from "../model/resource-types.ts";
import { claimsOf } from "../model/tokens.ts";

/** The state of the login. */
export type SessionState =
  | { readonly kind: "signed-out"; readonly message: string }
  | { readonly kind: "signing-in" }
  | { readonly kind: "signed-in"; readonly userName: string };

export const session = signal<SessionState>({ kind: "signed-out", message: "" });
/** What the server serves; empty until the login. */
export const serverTypes = signal<ServerTypes>({ types: [], groupSuffix: "" });
export const reviews = computed(() => new AccessReviews(serverTypes.value.groupSuffix));

onUnauthorized(() => signOut("The server doesn't accept your credentials any more."));

/** Forgets the credentials and everything read with them. The place stays in the URL, so the next login returns to it. */
export function signOut(message = ""): void {
  setToken(undefined);
  session.value = { kind: "signed-out", message };
  serverTypes.value = { types: [], groupSuffix: "" };
}

/** Signs in with a token, or with the client certificate of the browser if there is none. */
export async function signIn(token: string | undefined): Promise<void> {
  session.value = { kind: "signing-in" };
  try {
    const response = await sendWith(token, "/apis", {});
    if (!response.ok) return signOut(await refusalText(response, token));
    setToken(token);
    const types = await readTypes();
    const userName = await authenticatedName(token, types);
    if (userName === undefined) {
      return signOut(noCertificate);
    }
    serverTypes.value = types;
    session.value = { kind: "signed-in", userName };
  } catch (error) {
    signOut(messageOf(error));
  }
}

/** Exchanges a one-time code for a token, and signs in with it. */
export async function signInWithCode(code: string): Promise<void> {
  session.value = { kind: "signing-in" };
  try {
    const response = await sendWith(code, "/console/sessions", { method: "POST" });
    if (!response.ok) return signOut((await errorOf(response)).message);
    const { token } = (await response.json()) as { readonly token: string };
    await signIn(token);
  } catch (error) {
    signOut(messageOf(error));
  }
}

const noCertificate =
  "Your browser sent no client certificate that the server accepts. Paste a token instead.";

async function refusalText(response: Response, token: string | undefined): Promise<string> {
  if (token === undefined) return noCertificate;
  const { message } = await errorOf(response);
  if (response.status !== 401) return message;
  return "The server doesn't accept this token; its log has the reason.";
}

/**
 * Returns the user's name; empty if the server doesn't tell it. The server decides for itself who the user is: the name is only shown,
 * and used in questions about the user's own access. Undefined if the requests are anonymous.
 */
async function authenticatedName(
  token: string | undefined,
  { groupSuffix, types }: ServerTypes,
): Promise<string | undefined> {
  // Anonymous users may not ask about their own access.
  const access = await sendWith(token, `/apis/authorization.${groupSuffix}/v1/selfsubjectaccessreviews`, {
    method: "POST",
    body: { spec: { nonResourceAttributes: { verb: "get", path: "/api" } } },
  });
  if (token === undefined && !access.ok) return undefined;
  const self = types.find(({ name }) => name === "selfsubjectreviews");
  if (self !== undefined) {
    const answer = await sendWith(token, pathOf(self, ""), { method: "POST", body: {} });
    const { status } = (await answer.json()) as { status?: { userInfo?: { username?: string } } };
    if (status?.userInfo?.username !== undefined) return status.userInfo.username;
  }
  // The claims may have another name than the server, such as the full name of a person.
  return (await nameInRefusal(token)) ?? nameInToken(token) ?? "";
}

/** Returns the user that a refusal names: all but administrators are refused this path. */
async function nameInRefusal(token: string | undefined): Promise<string | undefined> {
  const { message } = await errorOf(await sendWith(token, "/console/codes", {}));
  // Names with escaped characters are left out.
  return /User "([^"\\]*)" cannot/.exec(message)?.[1];
}

/** Returns the user that the claims of a token name; undefined if it has none. */
function nameInToken(token: string | undefined): string | undefined {
  const { name, sub } = claimsOf(token ?? "") ?? {};
  const user = name ?? sub;
  return typeof user === "string" ? user : undefined;
}
