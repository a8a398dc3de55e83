import { offeredProtocols } from "../../authentication/websocket-token.ts";
import { StatusError } from "../../base/status-error.ts";
import { readFacts, type RequestFacts } from "./facts.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

type Request = Pick<HttpExchange, "method" | "header" | "connection">;

/**
 * Rejects a request of a document behind `proxy` of a pod, service or node for anything but this proxy, and the script of a service worker
 * there: such a document has the server's address, but the backend chose its content (decision 26). A document may link to other
 * pages. Only browsers send these headers.
 *
 * @throws {StatusError} Forbidden
 */
export function refuseProxiedPage(exchange: Pick<HttpExchange, "header">, facts: RequestFacts): void {
  const own = proxyOf(facts);
  if (own !== undefined && exchange.header("service-worker") !== undefined) {
    throw new StatusError("Forbidden", "pages behind proxy can't have service workers");
  }
  const referer = exchange.header("referer");
  if (referer === undefined || !URL.canParse(referer)) return;
  const page = proxyOfPath(new URL(referer).pathname);
  if (page === undefined || page === own) return;
  if (exchange.header("sec-fetch-dest") === "document" && exchange.header("sec-fetch-mode") === "navigate")
    return;
  throw new StatusError("Forbidden", `the page behind ${page} may send requests to its own path only`);
}

/** Returns the object and subresource of a request for `proxy`; undefined for other requests. */
function proxyOf(facts: RequestFacts): string | undefined {
  if (facts.kind !== "resource" || facts.subresource !== "proxy") return undefined;
  const { group, namespace, resource, name } = facts;
  return [group, namespace, resource, name, "proxy"].filter((part) => part !== "").join("/");
}

function proxyOfPath(path: string): string | undefined {
  try {
    return proxyOf(readFacts("GET", path));
  } catch (error) {
    // A path that isn't well encoded is no path of this server.
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}

/**
 * Rejects a write, or an upgraded connection, that a page of another site made in a browser. The browser may add the user's client
 * certificate to it, and a page can send a body without a content type without asking the server first.
 *
 * @throws {StatusError} Forbidden
 */
export function refuseForeignPage(exchange: Request, vocabulary: Vocabulary): void {
  const isRead = exchange.method === "GET" || exchange.method === "HEAD";
  // A WebSocket is opened with GET, and its client may read the answers.
  if (isRead && exchange.header("upgrade") === undefined) return;
  if (!isOfForeignPage(exchange) || hasOnlyToken(exchange, vocabulary)) return;
  throw new StatusError(
    "Forbidden",
    "this server accepts no writes and connections from pages of other sites",
  );
}

/** Whether the only credential of a WebSocket is a token, which the page itself has; the browser adds no other one. */
function hasOnlyToken(exchange: Request, vocabulary: Vocabulary): boolean {
  if (exchange.connection.certificate !== undefined) return false;
  if (exchange.header("upgrade")?.toLowerCase() !== "websocket") return false;
  const protocols = exchange.header("sec-websocket-protocol") ?? "";
  return offeredProtocols(protocols, vocabulary).tokens.length > 0;
}

function isOfForeignPage(exchange: Request): boolean {
  const site = exchange.header("sec-fetch-site");
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  // Chromium sends no Sec-Fetch-Site with a WebSocket, but Origin. Programs may send any Origin; the credentials of those that send
  // Authorization, which a page can't set there, don't come from a browser.
  const origin = exchange.header("origin");
  if (origin === undefined || exchange.header("authorization") !== undefined) return false;
  return !isOriginOf(origin, exchange.header("host") ?? exchange.header(":authority") ?? "");
}

/** Whether an origin has the host and port of a Host header. */
function isOriginOf(origin: string, host: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, host: expected } = new URL(origin);
  const url = `${protocol}//${host}`;
  return URL.canParse(url) && new URL(url).host === expected;
}
