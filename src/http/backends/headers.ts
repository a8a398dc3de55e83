import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { tokenProtocolPrefix } from "../../authentication/websocket-token.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { StatusError } from "../../base/status-error.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";

/** Headers that are about one connection, not about what is asked or answered (RFC 9110 section 7.6.1). */
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

/** Headers that the server speaks for itself: whose the request is, from where it comes, and how its body is framed. */
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
 * The headers of a request as they are forwarded: without the client's credentials, without what is about its own
 * connection, and with a body framed in one way only.
 *
 * @param isIdentity whether a proxy says in this header (in lower case) who the caller is.
 * @throws {StatusError} BadRequest for a body in a transfer encoding that can't be forwarded.
 */
export function requestHeaders(
  exchange: HttpExchange,
  vocabulary: Vocabulary,
  isIdentity: (name: string) => boolean,
): OutgoingHttpHeaders {
  const named = namedIn(exchange.header("connection"));
  // Without a prototype: a client may call a header anything.
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

/** How the body that is forwarded is framed: by its length where the client says it, else in chunks. */
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

/** A bearer token may stand among the protocols that a WebSocket client offers; it is no business of the backend's. */
function dropTokens(headers: OutgoingHttpHeaders, vocabulary: Vocabulary): void {
  const offered = headers["sec-websocket-protocol"];
  if (offered === undefined) return;
  const prefix = tokenProtocolPrefix(vocabulary);
  const kept = String(offered)
    .split(",")
    .map((protocol) => protocol.trim())
    .filter((protocol) => !protocol.startsWith(prefix));
  if (kept.length === 0) delete headers["sec-websocket-protocol"];
  else headers["sec-websocket-protocol"] = kept.join(", ");
}

/** The header lines of a backend's answer as they are forwarded; the answer has an audit id of this server's. */
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

/** Adds a backend's header line to an answer's, unless it is about the backend's connection or could not be sent. */
function addLine(lines: string[], name: string, value: string): void {
  if (hopByHop.has(name) || !isToken.test(name) || isControl.test(value)) return;
  lines.push(name, value);
}

/** The characters of a header's name (RFC 9110 section 5.6.2); a pseudo-header of HTTP/2 has a colon. */
const isToken = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
/** Node sends no value with such a character. */
// oxlint-disable-next-line no-control-regex
const isControl = /[^\t\x20-\x7e\x80-\xff]/;

/** Whether an answer may have trailers: whether it has a body, and that comes in chunks. */
export function mayTrail({ headers, statusCode = 0 }: IncomingMessage, method: string): boolean {
  return headers["transfer-encoding"] !== undefined && method !== "HEAD" && ![204, 304].includes(statusCode);
}

/** The names of the trailers that an answer announces; empty when it announces none. */
export function announcedTrailers({ headers }: IncomingMessage): string {
  const names = (headers.trailer ?? "").split(",").map((name) => name.trim());
  return names.filter((name) => isToken.test(name.toLowerCase())).join(", ");
}

/** The header lines that followed a backend's answer, as they are forwarded; they can't say how the body is framed. */
export function trailersOf({ rawTrailers, headers }: IncomingMessage): string[] {
  const named = namedIn(headers.connection);
  const lines: string[] = [];
  for (let at = 0; at < rawTrailers.length; at += 2) {
    const name = rawTrailers[at]!.toLowerCase();
    if (!ownHeaders.has(name) && !named.has(name)) addLine(lines, name, rawTrailers[at + 1]!);
  }
  return lines;
}

/** The names that a header lists, in lower case and without parameters. */
function namedIn(header: string | undefined): ReadonlySet<string> {
  return new Set((header ?? "").split(",").map((name) => name.split(";", 1)[0]!.trim().toLowerCase()));
}
