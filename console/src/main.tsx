import { render } from "preact";
import { reportBug } from "./state/bugs.ts";
import { keepSession, takeKeptSession } from "./state/kept-session.ts";
import { followKeys } from "./state/keys.ts";
import { finishSignIn, takeProviderResponse } from "./state/openid.ts";
import { followPlace, followTheme, takeCode } from "./state/place.ts";
import { followWorkspace } from "./state/workspace.ts";
import { continueSession, session, signInWithCode } from "./state/session.ts";
import { Login } from "./views/login.tsx";
import { Shell } from "./views/shell.tsx";

/** The login, or the frame with the current view. */
function Console() {
  switch (session.value.kind) {
    case "signed-in":
      return <Shell />;
    case "signing-in":
      return (
        <main class="login">
          <p role="status">Signing in…</p>
        </main>
      );
    case "signed-out":
      return <Login />;
  }
}

const code = takeCode();
const response = takeProviderResponse();
const credentials = takeKeptSession();
followWorkspace();
followPlace();
followTheme();
followKeys();
keepSession();
if (code !== undefined) signInWithCode(code).catch(reportBug);
else if (response !== undefined) finishSignIn(response).catch(reportBug);
else if (credentials !== undefined) continueSession(credentials).catch(reportBug);
render(<Console />, document.getElementById("console")!);
