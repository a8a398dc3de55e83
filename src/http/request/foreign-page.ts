import { StatusError } from "../../base/status-error.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";

/**
 * Rejects a write, or an upgraded connection, that a page of another site made in a browser. The browser may add the user's client certificate to it, and a page
 * can send a body without a content type without asking the server first.
 *
 * @throws {StatusError} Forbidden
 */
export function refuseForeignPage(exchange: Pick<HttpExchange, "method" | "header">): void {
  const isRead = exchange.method === "GET" || exchange.method === "HEAD";
  // A WebSocket is opened with GET, and its client may read the answers.
  if (isRead && exchange.header("upgrade") === undefined) return;
  const site = exchange.header("sec-fetch-site");
  if (site === undefined || site === "same-origin" || site === "none") return;
  throw new StatusError(
    "Forbidden",
    "this server accepts no writes and connections from pages of other sites",
  );
}
