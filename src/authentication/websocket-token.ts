import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { refusal } from "./refusal.ts";

/** What a protocol begins with that is really a token. */
export function tokenProtocolPrefix({ groupSuffix }: Vocabulary): string {
  return `base64url.bearer.authorization.${groupSuffix}.`;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * The header `Authorization` that the protocols of a WebSocket client stand for: programs in browsers can set no other
 * header. The token stands among them in base64url, and a real protocol must be there beside it, for the answer to name.
 *
 * @param protocols value of the header `Sec-WebSocket-Protocol`.
 * @returns undefined when there is no token.
 * @throws {StatusError} Unauthorized for several tokens, one that isn't well encoded, or one alone.
 */
export function webSocketAuthorization(protocols: string, vocabulary: Vocabulary): string | undefined {
  const prefix = tokenProtocolPrefix(vocabulary);
  const offered = protocols.split(",").map((one) => one.trim());
  const tokens = offered.filter((one) => one.startsWith(prefix));
  if (tokens.length === 0) return undefined;
  if (tokens.length > 1) throw refusal("several tokens among the WebSocket protocols");
  if (offered.length === 1) throw refusal("a token needs another WebSocket protocol beside it");
  const encoded = tokens[0]!.slice(prefix.length);
  if (!/^[\w-]+$/.test(encoded)) throw refusal("the token among the WebSocket protocols is not well encoded");
  try {
    return `Bearer ${utf8.decode(Buffer.from(encoded, "base64url"))}`;
  } catch {
    throw refusal("the token among the WebSocket protocols is not well encoded");
  }
}
