import { StatusError } from "../../base/status-error.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";

/**
 * Rejects a request with an ambiguous host (RFC 9112 section 3.2, RFC 9113 section 8.3.1): several Host headers, or a Host header that
 * differs from `:authority`. A proxy before the server may have checked the other value.
 *
 * @throws {StatusError} BadRequest
 */
export function refuseAmbiguousHost({ rawHeaders }: Pick<HttpExchange, "rawHeaders">): void {
  let host: string | undefined;
  let authority: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name === ":authority") authority = rawHeaders[at + 1]!;
    if (name.length !== hostLength || name.toLowerCase() !== "host") continue;
    if (host !== undefined) throw new StatusError("BadRequest", "the request has more than one Host header");
    host = rawHeaders[at + 1]!;
  }
  if (host === undefined || authority === undefined) return;
  if (host.toLowerCase() === authority.toLowerCase()) return;
  throw new StatusError("BadRequest", "the request's Host header and :authority differ");
}

const hostLength = "host".length;
