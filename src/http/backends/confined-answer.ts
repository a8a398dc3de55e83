import type { HeaderLines } from "../transport/header-lines.ts";

/**
 * Headers of a response that act on the whole origin, which a proxied backend shares with the API and the console. The names of CORS
 * have the prefix {@link corsPrefix}.
 */
const originHeaders = new Set([
  "alt-svc",
  "clear-site-data",
  "content-security-policy-report-only",
  "nel",
  "origin-agent-cluster",
  "report-to",
  "reporting-endpoints",
  "service-worker-allowed",
  "strict-transport-security",
]);
const corsPrefix = "access-control-";

/**
 * Restricts the response of a proxied backend to its own path in a browser (decision 26): the document is sandboxed, which gives it an
 * origin of its own, and neither headers nor cookies apply to other paths. Programs ignore the added header.
 *
 * @param lines name, value, name, value, …; names in lower case.
 * @param prefix path of the proxy as sent by the client, without a trailing slash.
 */
export function confineAnswer(lines: HeaderLines, prefix: string): string[] {
  const confined: string[] = [];
  for (let at = 0; at < lines.length; at += 2) {
    const [name, value] = [lines[at]!.toLowerCase(), lines[at + 1]!];
    if (originHeaders.has(name) || name.startsWith(corsPrefix)) continue;
    const own = name === "set-cookie" ? confineCookie(value, prefix) : value;
    if (own !== undefined) confined.push(name, own);
  }
  // A browser enforces each policy, so one of the backend can't loosen this one.
  confined.push("content-security-policy", "sandbox");
  return confined;
}

/** Returns a cookie that is sent to paths below the prefix only; undefined for a cookie of other paths or hosts. */
function confineCookie(cookie: string, prefix: string): string | undefined {
  const attributes = cookie.split(";").slice(1).map(attributeOf);
  if (attributes.some(({ name }) => name === "domain")) return undefined;
  // A browser uses the last one, and the directory of the request for one that doesn't begin with a slash.
  const path = attributes.findLast(({ name }) => name === "path")?.value ?? "";
  if (!path.startsWith("/")) return `${cookie}; Path=${prefix}`;
  return path === prefix || path.startsWith(`${prefix}/`) ? cookie : undefined;
}

function attributeOf(text: string): { readonly name: string; readonly value: string } {
  const equals = text.indexOf("=");
  const name = equals === -1 ? text : text.slice(0, equals);
  return { name: name.trim().toLowerCase(), value: equals === -1 ? "" : text.slice(equals + 1).trim() };
}
