import { apiGroup } from "../vocabulary/names.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { refusal } from "./refusal.ts";

/** Prefix of a WebSocket protocol that contains a bearer token. */
export function tokenProtocolPrefix({ groupSuffix }: Vocabulary): string {
  return `base64url.bearer.${apiGroup(groupSuffix, "authorization")}.`;
}

/** Returns the WebSocket protocols that a client offers, and those of them that contain tokens. */
export function offeredProtocols(
  protocols: string,
  vocabulary: Vocabulary,
): { readonly offered: readonly string[]; readonly tokens: readonly string[] } {
  const prefix = tokenProtocolPrefix(vocabulary);
  const offered = protocols.split(",").map((one) => one.trim());
  return { offered, tokens: offered.filter((one) => one.startsWith(prefix)) };
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Returns the `Authorization` header for the token in the WebSocket protocols of a request. Browsers can't set headers of WebSocket
 * requests, so they send the token in base64url as an additional protocol. Another protocol is required, which the server selects in its
 * response.
 *
 * @param protocols value of the header `Sec-WebSocket-Protocol`.
 * @returns undefined if there is no token.
 * @throws {StatusError} Unauthorized for several tokens, a malformed token, or a token without another protocol.
 */
export function webSocketAuthorization(protocols: string, vocabulary: Vocabulary): string | undefined {
  const { offered, tokens } = offeredProtocols(protocols, vocabulary);
  if (tokens.length === 0) return undefined;
  if (tokens.length > 1) throw refusal("the WebSocket protocols contain several tokens");
  if (offered.length === 1) throw refusal("a WebSocket request with a token requires another protocol");
  const encoded = tokens[0]!.slice(tokenProtocolPrefix(vocabulary).length);
  if (!/^[\w-]+$/.test(encoded))
    throw refusal("the token in the WebSocket protocols is not valid base64url of UTF-8");
  try {
    return `Bearer ${utf8.decode(Buffer.from(encoded, "base64url"))}`;
  } catch {
    throw refusal("the token in the WebSocket protocols is not valid base64url of UTF-8");
  }
}
