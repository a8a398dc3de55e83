import { render } from "preact";
import { reportBug } from "./state/bugs.ts";
import { followKeys } from "./state/keys.ts";
import { followPlace, followTheme, takeCode } from "./state/place.ts";
import { session, signInWithCode } from "./state/session.ts";
import { Login } from "./views/login.tsx";
import { Shell } from "./views/shell.tsx";

/** The login, or the frame with the current view. */
function Console() {
  return session.value.kind === "signed-in" ? <Shell /> : <Login />;
}

const code = takeCode();
followPlace();
followTheme();
followKeys();
if (code !== undefined) signInWithCode(code).catch(reportBug);
render(<Console />, document.getElementById("console")!);
