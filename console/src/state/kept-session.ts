import { currentCredentials, type Credentials } from "../api/client.ts";
import { session } from "./session.ts";

/** Key in the storage of the tab, from the moment the page is left until it is loaded again. */
const key = "plinth-console-session";

/**
 * Keeps the session when the page is loaded again: the credentials are put into the storage of the tab when the page is left, and are
 * removed from it when the page is back. While the page is open they are in its memory only.
 */
export function keepSession(): void {
  window.addEventListener("pagehide", () => {
    if (session.value.kind !== "signed-in") return;
    try {
      sessionStorage.setItem(key, JSON.stringify(currentCredentials()));
    } catch {
      // The user has forbidden storage: a reload ends the session.
    }
  });
  window.addEventListener("pageshow", takeKeptSession);
}

/** Removes the credentials from the storage of the tab, and returns them; undefined if there are none. */
export function takeKeptSession(): Credentials | undefined {
  try {
    const text = sessionStorage.getItem(key);
    sessionStorage.removeItem(key);
    return text === null ? undefined : (JSON.parse(text) as Credentials);
  } catch {
    // The user has forbidden storage.
    return undefined;
  }
}
