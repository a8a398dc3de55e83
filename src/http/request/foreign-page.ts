import { StatusError } from "../../base/status-error.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";

type Headers = Pick<HttpExchange, "method" | "header">;

/**
 * Rejects a write, or an upgraded connection, that a page of another site made in a browser. The browser may add the user's client
 * certificate to it, and a page can send a body without a content type without asking the server first.
 *
 * @throws {StatusError} Forbidden
 */
export function refuseForeignPage(exchange: Headers): void {
  const isRead = exchange.method === "GET" || exchange.method === "HEAD";
  // A WebSocket is opened with GET, and its client may read the answers.
  if (isRead && exchange.header("upgrade") === undefined) return;
  if (!isOfForeignPage(exchange)) return;
  throw new StatusError(
    "Forbidden",
    "this server accepts no writes and connections from pages of other sites",
  );
}

function isOfForeignPage(exchange: Headers): boolean {
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
