import { parseEmbeddedJson } from "../../base/json/embedded.ts";
import { StatusError } from "../../base/status-error.ts";
import type { Revision } from "../../storage/store.ts";

/** The position at which a chunked list continues (spec: conventions 4.4). */
export interface ContinuePoint {
  /** The revision of the whole list. */
  readonly revision: Revision;
  /** The last key that was looked at, without the prefix of the collection: a token serves only its own collection. */
  readonly after: string;
  /** How many objects remain, where that is known. */
  readonly remaining: number | undefined;
}

export function encodeContinue(point: ContinuePoint): string {
  const { revision, after, remaining } = point;
  return Buffer.from(JSON.stringify({ v: 1, rv: revision, after, remaining })).toString("base64url");
}

/** @throws {StatusError} BadRequest for a token that this server didn't make. */
export function decodeContinue(token: string): ContinuePoint {
  const refused = (): StatusError => new StatusError("BadRequest", "continue key is not valid");
  let parsed: { v?: unknown; rv?: unknown; after?: unknown; remaining?: unknown } | null;
  try {
    parsed = parseEmbeddedJson(Buffer.from(token, "base64url").toString("utf8")) as typeof parsed;
  } catch {
    throw refused();
  }
  if (parsed === null || typeof parsed !== "object" || parsed.v !== 1) throw refused();
  const { rv, after, remaining } = parsed;
  if (!Number.isSafeInteger(rv) || (rv as number) < 1 || typeof after !== "string") throw refused();
  if (remaining !== undefined && !Number.isSafeInteger(remaining)) throw refused();
  return { revision: rv as Revision, after, remaining: remaining as number | undefined };
}
