import { parseEmbeddedJson } from "../../base/json/embedded.ts";
import { ExpiredListError, StatusError } from "../../base/status-error.ts";
import type { Revision } from "../../storage/store.ts";

/** The position from which a list in chunks continues (spec: conventions 4.4). */
export interface ContinuePoint {
  /** The revision of the whole list; undefined: the rest is read at the latest revision (see {@link expiredList}). */
  readonly revision: Revision | undefined;
  /** The last checked key, without the prefix of the collection, so that a token can't name keys of another collection. */
  readonly after: string;
  /** Number of remaining objects, if known. */
  readonly remaining: number | undefined;
  /** The view of the list (see `ObjectView.id`); undefined for a list without one. */
  readonly view?: string | undefined;
  /** The order of a sorted list (see `SortOrder.text`), and the value of the object at `after`. */
  readonly sort?: string | undefined;
  readonly value?: string | undefined;
}

/**
 * Returns the error for a token whose revision is no longer retained. As in the reference, it has a token with which the client can
 * read the rest at the latest revision.
 */
export function expiredList(point: ContinuePoint): ExpiredListError {
  return new ExpiredListError(
    "The provided continue parameter is too old to display a consistent list result. Start a new list without the " +
      "continue parameter, or read the remaining items with the continue token of this response. They are then as of " +
      "now, and objects that were created, changed or deleted since the first chunk may be missing or differ.",
    encodeContinue({ ...point, revision: undefined, remaining: undefined }),
  );
}

export function encodeContinue(point: ContinuePoint): string {
  const { revision, after, remaining, view, sort, value } = point;
  const token = { v: 1, rv: revision, after, remaining, view, sort, value };
  return Buffer.from(JSON.stringify(token)).toString("base64url");
}

/**
 * @param view the view of the request.
 * @param sort the order of the request.
 * @throws {StatusError} BadRequest for an invalid token, or one of another view or order.
 */
export function decodeContinue(token: string, view?: string, sort?: string): ContinuePoint {
  const invalid = (): StatusError => new StatusError("BadRequest", "continue key is not valid");
  let parsed: { [member in "v" | "rv" | "after" | "remaining" | "view" | "sort" | "value"]?: unknown } | null;
  try {
    parsed = parseEmbeddedJson(Buffer.from(token, "base64url").toString("utf8")) as typeof parsed;
  } catch {
    throw invalid();
  }
  if (parsed === null || typeof parsed !== "object" || parsed.v !== 1) throw invalid();
  const { rv, after, remaining, value } = parsed;
  if (rv !== undefined && (!Number.isSafeInteger(rv) || (rv as number) < 1)) throw invalid();
  if (typeof after !== "string") throw invalid();
  if (remaining !== undefined && !Number.isSafeInteger(remaining)) throw invalid();
  if (parsed.view !== view) {
    throw new StatusError(
      "BadRequest",
      "parameter continue: the token is of a list with another view; use it with the parameter view and the user of that list",
    );
  }
  if (parsed.sort !== sort) {
    throw new StatusError(
      "BadRequest",
      "parameter continue: the token is of a list with another order; use it with the parameter sort of that list",
    );
  }
  if (sort !== undefined && typeof value !== "string") throw invalid();
  return {
    revision: rv as Revision | undefined,
    after,
    remaining: remaining as number | undefined,
    view,
    sort,
    value: value as string | undefined,
  };
}
