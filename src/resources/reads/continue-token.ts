import { parseEmbeddedJson } from "../../base/json/embedded.ts";
import { StatusError } from "../../base/status-error.ts";
import type { Revision } from "../../storage/store.ts";

/** The position from which a list in chunks continues (spec: conventions 4.4). */
export interface ContinuePoint {
  /** The revision of the whole list. */
  readonly revision: Revision;
  /** The last checked key, without the prefix of the collection, so that a token can't name keys of another collection. */
  readonly after: string;
  /** Number of remaining objects, if known. */
  readonly remaining: number | undefined;
}

export function encodeContinue(point: ContinuePoint): string {
  const { revision, after, remaining } = point;
  return Buffer.from(JSON.stringify({ v: 1, rv: revision, after, remaining })).toString("base64url");
}

/** @throws {StatusError} BadRequest for an invalid token. */
export function decodeContinue(token: string): ContinuePoint {
  const invalid = (): StatusError => new StatusError("BadRequest", "continue key is not valid");
  let parsed: { v?: unknown; rv?: unknown; after?: unknown; remaining?: unknown } | null;
  try {
    parsed = parseEmbeddedJson(Buffer.from(token, "base64url").toString("utf8")) as typeof parsed;
  } catch {
    throw invalid();
  }
  if (parsed === null || typeof parsed !== "object" || parsed.v !== 1) throw invalid();
  const { rv, after, remaining } = parsed;
  if (!Number.isSafeInteger(rv) || (rv as number) < 1 || typeof after !== "string") throw invalid();
  if (remaining !== undefined && !Number.isSafeInteger(remaining)) throw invalid();
  return { revision: rv as Revision, after, remaining: remaining as number | undefined };
}
