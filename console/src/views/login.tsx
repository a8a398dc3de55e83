import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { reportBug } from "../state/bugs.ts";
import { messageOf } from "../api/client.ts";
import { readProvider } from "../api/openid.ts";
import type { Provider } from "../model/openid.ts";
import { signInWithProvider } from "../state/openid.ts";
import { session, signIn } from "../state/session.ts";

/** The login page. */
export function Login() {
  const token = useSignal("");
  const field = useRef<HTMLInputElement>(null);
  const { value: state } = session;
  useEffect(() => field.current?.focus(), []);
  return (
    <main class="login">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const text = token.value.trim();
          token.value = "";
          if (text !== "") signIn(text).catch(reportBug);
        }}
      >
        <h1>
          <img src="icon.svg" alt="" width="28" height="28" /> Plinth console
        </h1>
        {state.kind === "signed-out" && state.message !== "" && (
          <p class="message bad" role="alert">
            {state.message}
          </p>
        )}
        <label for="token">Bearer token</label>
        <input
          id="token"
          ref={field}
          type="password"
          autocomplete="off"
          spellcheck={false}
          value={token.value}
          onInput={(event) => (token.value = event.currentTarget.value)}
          aria-describedby="token-note"
        />
        <p class="note" id="token-note">
          The token stays in this tab. Sign out or close the tab to end the session.
        </p>
        <div class="buttons">
          <button type="submit" class="primary">
            Sign in
          </button>
          <button type="button" onClick={signInWithCertificate}>
            Use a client certificate
          </button>
        </div>
        <ProviderSignIn />
        <p class="note">
          On the machine of the server, <code>plinth console</code> opens this page as the administrator.
        </p>
      </form>
    </main>
  );
}

/** The sign-in with the server's OpenID provider; nothing if it has none. */
function ProviderSignIn() {
  const provider = useSignal<Provider | string | undefined>(undefined);
  useEffect(() => {
    readProvider()
      .then((result) => (provider.value = result))
      .catch((error: unknown) => (provider.value = messageOf(error)));
  }, []);
  const { value } = provider;
  if (value === undefined) return null;
  if (typeof value === "string") return <p class="note">{value}</p>;
  const { host } = new URL(value.issuer);
  if (value.endpoints === undefined) {
    return (
      <p class="note">The server can't reach the OpenID provider {host}. Reload the page to try again.</p>
    );
  }
  return (
    <button type="button" onClick={() => void signInWithProvider(value).catch(reportBug)}>
      Sign in with {host}
    </button>
  );
}

function signInWithCertificate(): void {
  signIn(undefined).catch(reportBug);
}
