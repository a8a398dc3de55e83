import type { Visitor, WelcomeFacts } from "../request/visitor.ts";
import { consolePrefix } from "./console/console-files.ts";

/** Media type of the page. */
export const htmlMediaType = "text/html; charset=utf-8";

/** Maximum length of the text of a right or name. */
const maxTextLength = 300;

/**
 * Returns the page that a browser shows for `/`: what this server is, what the visitor may do, and how to use it.
 *
 * @param visitor undefined without accepted credentials.
 */
export function welcomePage(
  { vocabulary: { name, clientSideApply }, hasConsole, dataFolder }: WelcomeFacts,
  visitor: Visitor | undefined,
): Buffer {
  const client =
    clientSideApply === undefined
      ? "This vocabulary has its own names. kubectl and other clients of Kubernetes need a server that was started with <code>--kubernetes</code>."
      : "kubectl, client libraries and operators of Kubernetes work unchanged.";
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
  code { font-family: ui-monospace, monospace; overflow-wrap: anywhere }
  dt { font-weight: 600; margin-top: 1rem }
  dd { margin: 0 }
  ul { margin: 0; padding-left: 1.2rem }
</style>
</head>
<body>
<h1>Plinth</h1>
<p>This is a resource API server. Programs and command line tools use it over HTTPS.</p>
<dl>
${hasConsole ? consoleEntry : ""}<dt>You</dt>
<dd>${visitorText(visitor)}</dd>
<dt>Vocabulary</dt>
<dd>${name}. ${client}</dd>
<dt>Credentials</dt>
<dd>${credentialsText(visitor, dataFolder)}</dd>
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

const consoleEntry = `<dt>Console</dt>
<dd><a href="${consolePrefix}">${consolePrefix}</a> shows objects and rights, live, with an editor. <code>plinth console</code>, in the folder in which
the server was started, opens it signed in as the administrator.</dd>
`;

function visitorText(visitor: Visitor | undefined): string {
  const noCredentials =
    "Your browser sent no credentials that this server accepts, so it can't show you objects.";
  if (visitor === undefined) return noCredentials;
  const { name, isAnonymous, mayDoEverything, rights, furtherRights, incomplete } = visitor;
  const user = isAnonymous ? noCredentials : `You are <code>${plain(name)}</code>.`;
  if (mayDoEverything) return `${user} You may do everything.`;
  if (rights.length === 0 && !incomplete) return `${user} You may do nothing in all namespaces.`;
  const rows = rights.map((right) => `<li><code>${plain(right)}</code></li>`);
  if (furtherRights > 0) rows.push(`<li>and ${furtherRights} more</li>`);
  if (incomplete) rows.push("<li>and what an authorizer allows that can't list its rules</li>");
  return `${user} In all namespaces you may:<ul>${rows.join("\n")}</ul>`;
}

function credentialsText(visitor: Visitor | undefined, dataFolder: string | undefined): string {
  if (visitor?.mayDoEverything !== true)
    return `An administrator issues them: <code>plinth kubeconfig --user=NAME --group=GROUP</code>.`;
  if (dataFolder === undefined) return "The program that started this server has those of the administrator.";
  return `The data folder is <code>${plain(dataFolder)}</code>. By default the kubeconfig of the administrator, <code>admin.kubeconfig</code>, and the
certificate of the server's CA, <code>pki/ca.crt</code>, are in it. With curl: <code>curl --cacert CA -H "Authorization: Bearer $TOKEN" …</code>`;
}

/** Returns a text for HTML; a long one is cut off. */
function plain(text: string): string {
  const start = text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text;
  return start
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
