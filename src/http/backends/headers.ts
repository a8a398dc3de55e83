import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { tokenProtocolPrefix } from "../../authentication/websocket-token.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { StatusError } from "../../base/status-error.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";

/** Headers of a single connection (RFC 9110 section 7.6.1). */
const hopByHop = new Set([
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Headers that the server sets itself: credentials, source address and framing of the body. */
const ownHeaders = new Set([
  "authorization",
  "content-length",
  "expect",
  "forwarded",
  "host",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-forwarded-uri",
]);

/**
 * Returns the headers of a forwarded request: without the client's credentials and the headers of its connection, and
 * with unambiguous framing.
 *
 * @param isIdentity returns true for a header (in lower case) with which a proxy names the user.
 * @throws {StatusError} BadRequest for a body in an unsupported transfer encoding.
 */
export function requestHeaders(
  exchange: HttpExchange,
  vocabulary: Vocabulary,
  isIdentity: (name: string) => boolean,
): OutgoingHttpHeaders {
  const named = namedIn(exchange.header("connection"));
  // Without a prototype, because clients choose the names.
  const headers: OutgoingHttpHeaders = Object.create(null) as OutgoingHttpHeaders;
  for (let at = 0; at < exchange.rawHeaders.length; at += 2) {
    const name = exchange.rawHeaders[at]!.toLowerCase();
    if (name.startsWith(":") || name.startsWith("impersonate-")) continue;
    if (hopByHop.has(name) || ownHeaders.has(name) || named.has(name) || isIdentity(name)) continue;
    const value = exchange.header(name);
    if (typeof value === "string") headers[name] = value;
  }
  if (namedIn(exchange.header("te")).has("trailers")) headers["te"] = "trailers";
  dropTokens(headers, vocabulary);
  const host = exchange.header(":authority") ?? exchange.header("host");
  if (host !== undefined) {
    headers["host"] = host;
    headers["x-forwarded-host"] = host;
  }
  const { remoteAddress, secure } = exchange.connection;
  const before = exchange.header("x-forwarded-for");
  headers["x-forwarded-for"] = before === undefined ? remoteAddress : `${before}, ${remoteAddress}`;
  headers["x-forwarded-proto"] = secure ? "https" : "http";
  headers["x-forwarded-uri"] = exchange.url.split("?", 1)[0]!;
  return { ...headers, ...framing(exchange) };
}

/** Returns the framing of a forwarded body: its length if the client sent it, otherwise chunks. */
function framing(exchange: HttpExchange): OutgoingHttpHeaders {
  const encoding = exchange.header("transfer-encoding");
  if (encoding !== undefined && encoding.trim().toLowerCase() !== "chunked") {
    const message = `a body in the transfer encoding ${JSON.stringify(encoding)} can't be forwarded`;
    throw new StatusError("BadRequest", message);
  }
  const length = exchange.header("content-length");
  if (encoding === undefined && length !== undefined) return { "content-length": length };
  return exchange.body === undefined ? {} : { "transfer-encoding": "chunked" };
}

/** Removes bearer tokens from the protocols of a WebSocket client; the backend must not get them. */
function dropTokens(headers: OutgoingHttpHeaders, vocabulary: Vocabulary): void {
  const offered = headers["sec-websocket-protocol"];
  if (offered === undefined) return;
  const prefix = tokenProtocolPrefix(vocabulary);
  const forwarded = String(offered)
    .split(",")
    .map((protocol) => protocol.trim())
    .filter((protocol) => !protocol.startsWith(prefix));
  if (forwarded.length === 0) delete headers["sec-websocket-protocol"];
  else headers["sec-websocket-protocol"] = forwarded.join(", ");
}

/** Returns the forwarded header lines of a backend's response; the audit id is that of this server. */
export function answerHeaders(answer: IncomingMessage): string[] {
  const { headers } = answer;
  const named = namedIn(headers.connection);
  const chunked = headers["transfer-encoding"] !== undefined;
  const lines: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || named.has(name)) continue;
    if (name === "audit-id" || (chunked && name === "content-length")) continue;
    for (const one of Array.isArray(value) ? value : [value]) addLine(lines, name, one);
  }
  return lines;
}

/** Adds a backend's header line to a response, unless it belongs to the backend's connection or can't be sent. */
function addLine(lines: string[], name: string, value: string): void {
  if (hopByHop.has(name) || !isToken.test(name) || isControl.test(value)) return;
  lines.push(name, value);
}

/** Characters of a header name (RFC 9110 section 5.6.2); pseudo-headers of HTTP/2 have a colon. */
const isToken = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
/** Node rejects values with such characters. */
// oxlint-disable-next-line no-control-regex
const isControl = /[^\t\x20-\x7e\x80-\xff]/;

/** Returns true if a response may have trailers: it has a body, in chunks. */
export function mayTrail({ headers, statusCode = 0 }: IncomingMessage, method: string): boolean {
  return headers["transfer-encoding"] !== undefined && method !== "HEAD" && ![204, 304].includes(statusCode);
}

/** Returns the names of the trailers that a response announces; empty without any. */
export function announcedTrailers({ headers }: IncomingMessage): string {
  const names = (headers.trailer ?? "").split(",").map((name) => name.trim());
  return names.filter((name) => isToken.test(name.toLowerCase())).join(", ");
}

/** Returns the forwarded trailers of a backend's response; they can't change the framing of the body. */
export function trailersOf({ rawTrailers, headers }: IncomingMessage): string[] {
  const named = namedIn(headers.connection);
  const lines: string[] = [];
  for (let at = 0; at < rawTrailers.length; at += 2) {
    const name = rawTrailers[at]!.toLowerCase();
    if (!ownHeaders.has(name) && !named.has(name)) addLine(lines, name, rawTrailers[at + 1]!);
  }
  return lines;
}

/** Returns the names in a header's list, in lower case and without parameters. */
function namedIn(header: string | undefined): ReadonlySet<string> {
  return new Set((header ?? "").split(",").map((name) => name.split(";", 1)[0]!.trim().toLowerCase()));
}
