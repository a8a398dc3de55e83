import { computed, signal } from "@preact/signals";
import { AccessReviews } from "../api/access.ts";
import {
  ApiError,
  currentCredentials,
  errorOf,
  messageOf,
  onUnauthorized,
  sendWith,
  setCredentials,
  type Credentials,
  type Identity,
} from "../api/client.ts";
import { readTypes, readWorkspaceTypes, workspaceTypesIn, type ServerTypes } from "../api/discovery.ts";
import { currentWorkspace, entryFailure, workspaceTypes } from "./workspace.ts";

/** The state of the login. */
export type SessionState =
  | { readonly kind: "signed-out"; readonly message: string }
  | { readonly kind: "signing-in" }
  | { readonly kind: "signed-in"; readonly user: SignedInUser };

/** The user, as the server knows them. */
export interface SignedInUser extends Identity {
  /** The user who signed in, if the console shows what another user may see. */
  readonly impersonatedBy?: Identity;
}

export const session = signal<SessionState>({ kind: "signed-out", message: "" });
/** What the server serves; empty until the login. */
export const serverTypes = signal<ServerTypes>({ types: [], groupSuffix: "" });
export const reviews = computed(() => new AccessReviews(serverTypes.value.groupSuffix));
/** Reviews of actions on the server itself, also while a workspace is shown. */
export const serverReviews = computed(() => new AccessReviews(serverTypes.value.groupSuffix, ""));

onUnauthorized(() => signOut("The server doesn't accept your credentials any more."));

/** Forgets the credentials and everything read with them. The place stays in the URL, so the next login returns to it. */
export function signOut(message = ""): void {
  setCredentials(undefined);
  session.value = { kind: "signed-out", message };
  serverTypes.value = { types: [], groupSuffix: "" };
  workspaceTypes.value = [];
}

/** Signs in with a token, or with the client certificate of the browser if there is none. */
export async function signIn(token: string | undefined): Promise<void> {
  session.value = { kind: "signing-in" };
  try {
    await begin({ token });
  } catch (error) {
    signOut(error instanceof ApiError ? refusalText(error, token) : messageOf(error));
  }
}

/** Exchanges a one-time code for a token, and signs in with it. */
export async function signInWithCode(code: string): Promise<void> {
  session.value = { kind: "signing-in" };
  try {
    const response = await sendWith({ token: code }, "/console/sessions", { method: "POST" });
    if (!response.ok) return signOut((await errorOf(response)).message);
    const { token } = (await response.json()) as { readonly token: string };
    await signIn(token);
  } catch (error) {
    signOut(messageOf(error));
  }
}

/** Continues a session with the credentials that it had before the page was loaded again. */
export async function continueSession(credentials: Credentials): Promise<void> {
  session.value = { kind: "signing-in" };
  try {
    await begin(credentials);
  } catch {
    // Expired, or the right to impersonate is gone.
    await signIn(credentials.token);
  }
}

/**
 * Shows the console with the rights of another user, whom all requests impersonate; with those of the user again if it is undefined.
 *
 * @throws as `send`, for example if the user may not impersonate that one; the session is as before then.
 */
export async function viewAs(asUser: Identity | undefined): Promise<void> {
  const isSendable = [asUser?.name ?? "", ...(asUser?.groups ?? [])].every((one) => /^[ -~]*$/.test(one));
  if (!isSendable) throw new Error("Names with characters other than ASCII can't be impersonated.");
  await begin({ token: currentCredentials().token, asUser });
}

/** @throws as `send` */
async function begin(credentials: Credentials): Promise<void> {
  // Anonymous users may not ask who they are.
  const response = await sendWith(credentials, "/console/user");
  if (!response.ok) throw await errorOf(response);
  const user = (await response.json()) as SignedInUser;
  setCredentials(credentials);
  await readServed();
  session.value = { kind: "signed-in", user };
}

/** Reads what is served here. A workspace that can't be entered is said in its page, where another one can be chosen. */
async function readServed(): Promise<void> {
  entryFailure.value = "";
  if (currentWorkspace.value === "") {
    serverTypes.value = await readTypes();
    workspaceTypes.value = workspaceTypesIn(serverTypes.value.types);
    return;
  }
  workspaceTypes.value = await readWorkspaceTypes();
  try {
    serverTypes.value = await readTypes();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 401) throw error;
    entryFailure.value = error.message;
    serverTypes.value = { ...(await readTypes("")), types: [] };
  }
}

/** The user of the session; without a name while nobody is signed in. */
export const signedInUser = computed<SignedInUser>(() =>
  session.value.kind === "signed-in" ? session.value.user : { name: "", groups: [] },
);

const noCertificate =
  "Your browser sent no client certificate that the server accepts. Paste a token instead.";

function refusalText({ status, message }: ApiError, token: string | undefined): string {
  if (token === undefined) return noCertificate;
  return status === 401 ? "The server doesn't accept this token; its log has the reason." : message;
}
