import { render } from "preact";
import { reportBug } from "./state/bugs.ts";
import { followKeys } from "./state/keys.ts";
import { finishSignIn, takeProviderResponse } from "./state/openid.ts";
import { followPlace, followTheme, takeCode } from "./state/place.ts";
import { session, signInWithCode } from "./state/session.ts";
import { Login } from "./views/login.tsx";
import { Shell } from "./views/shell.tsx";

/** The login, or the frame with the current view. */
function Console() {
  return session.value.kind === "signed-in" ? <Shell /> : <Login />;
}

const code = takeCode();
const response = takeProviderResponse();
followPlace();
followTheme();
followKeys();
if (code !== undefined) signInWithCode(code).catch(reportBug);
else if (response !== undefined) finishSignIn(response).catch(reportBug);
render(<Console />, document.getElementById("console")!);
