import { StatusError } from "../../base/status-error.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";

/**
 * Refuses a request whose host is ambiguous (RFC 9112 section 3.2, RFC 9113 section 8.3.1): one with several Host lines,
 * or whose Host differs from its `:authority`. A proxy in front may have judged the other one.
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
