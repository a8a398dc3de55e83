import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { RequestContext } from "../request/context.ts";
import { parseAccept } from "../request/negotiation.ts";

/** Media type of the page. */
export const htmlMediaType = "text/html; charset=utf-8";

/** Whether a request is that of a browser for `/`: its Accept header names HTML. */
export function wantsWelcomePage({ exchange, facts }: RequestContext): boolean {
  if (facts.kind !== "path" || facts.path !== "/") return false;
  return parseAccept(exchange.header("accept") ?? "").some(
    ({ type, quality }) => type === "text/html" && quality > 0,
  );
}

/**
 * Returns the page that a browser shows for `/`: what this server is and how to use it. It contains nothing that depends on the
 * request, and nothing that isn't public.
 *
 * @param code status of the response; 401 and 403 explain that the browser has no credentials
 */
export function welcomePage({ name, clientSideApply }: Vocabulary, code: number): Buffer {
  const client =
    clientSideApply === undefined
      ? "This vocabulary has its own names. kubectl and other clients of Kubernetes need a server that was started with <code>--kubernetes</code>."
      : "kubectl, client libraries and operators of Kubernetes work unchanged: <code>export KUBECONFIG=.plinth/admin.kubeconfig</code>";
  const denied =
    code === 401 || code === 403
      ? "<p>Your browser sent no credentials that this server accepts, so it can't show you objects.</p>"
      : "";
  return Buffer.from(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Plinth</title>
<style>
  :root { color-scheme: light dark }
  body { font: 1rem/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem }
  code { font-family: ui-monospace, monospace }
  dt { font-weight: 600; margin-top: 1rem }
  dd { margin: 0 }
</style>
</head>
<body>
<h1>Plinth</h1>
<p>This is a resource API server. Programs and command line tools use it over HTTPS.</p>
${denied}
<dl>
<dt>Vocabulary</dt>
<dd>${name}. ${client}</dd>
<dt>Credentials</dt>
<dd>The server wrote a kubeconfig with administrator rights when it started, by default <code>.plinth/admin.kubeconfig</code>.
With curl: <code>curl --cacert .plinth/pki/ca.crt -H "Authorization: Bearer $TOKEN" …</code></dd>
<dt>What to try</dt>
<dd><code>plinth demo</code> loads an example organisation, <code>plinth auth who-can get secrets</code> explains authorization,
<code>plinth help</code> lists all commands.</dd>
<dt>Documents</dt>
<dd><a href="/version">/version</a>, <a href="/readyz?verbose">/readyz</a>, <a href="/api">/api</a>, <a href="/apis">/apis</a>,
<a href="/openapi/v3">/openapi/v3</a>; the folder <code>docs</code> of the package has the manual.</dd>
</dl>
</body>
</html>
`);
}
