import { StatusError } from "../../base/status-error.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { EncryptedValueError, KeyServiceError } from "../../storage/encryption/value-cipher.ts";
import {
  RevisionCompactedError,
  RevisionTooNewError,
  StoreError,
  StoreFullError,
  StoreTimeoutError,
  StoreValueError,
  type Revision,
} from "../../storage/store.ts";

/** The `resourceVersion` of a request: absent, `0`, or a revision (spec: conventions 4.5). */
export type ResourceVersion = undefined | 0 | Revision;

/** @throws {StatusError} BadRequest for a malformed resource version. */
export function parseResourceVersion(text: string | undefined): ResourceVersion {
  if (text === undefined || text === "") return undefined;
  const value = Number(text);
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(value)) {
    throw new StatusError(
      "BadRequest",
      `Invalid value for resourceVersion: ${JSON.stringify(text)} is not a version`,
    );
  }
  return value === 0 ? 0 : (value as Revision);
}

/** The read mode of a list (spec: conventions 4.5, the table). */
export type ListRead =
  | { readonly mode: "latest" }
  | { readonly mode: "notOlderThan"; readonly revision: Revision }
  | { readonly mode: "exact"; readonly revision: Revision }
  | { readonly mode: "continue"; readonly token: string };

export interface ListVersionOptions {
  readonly resourceVersion: ResourceVersion;
  readonly match: string | undefined;
  readonly limit: number;
  readonly token: string | undefined;
}

/**
 * The read mode of a list by the table of conventions 4.5, after {@link checkMatch}.
 *
 * @throws {StatusError} BadRequest for a continue token together with a resource version.
 */
export function listRead({ resourceVersion, match, limit, token }: ListVersionOptions): ListRead {
  if (token !== undefined) {
    if (resourceVersion !== undefined && resourceVersion !== 0) {
      throw new StatusError("BadRequest", "specifying resource version is not allowed when using continue");
    }
    return { mode: "continue", token };
  }
  if (resourceVersion === undefined || resourceVersion === 0) return { mode: "latest" };
  const exact = match === "Exact" || (match === undefined && limit > 0);
  return { mode: exact ? "exact" : "notOlderThan", revision: resourceVersion };
}

/**
 * Reports an invalid `resourceVersionMatch` by the table of conventions 4.5.
 *
 * @param options the values of the parameters; undefined if empty.
 */
export function checkMatch(
  options: Readonly<Record<"match" | "resourceVersion" | "token", string | undefined>>,
  report: FieldReport,
): void {
  const { resourceVersion, match, token } = options;
  if (match === undefined) return;
  const field = report.at("resourceVersionMatch");
  if (resourceVersion === undefined) {
    field.forbidden("resourceVersionMatch is forbidden unless resourceVersion is provided");
  }
  if (token !== undefined) field.forbidden("resourceVersionMatch is forbidden when continue is provided");
  if (match !== "Exact" && match !== "NotOlderThan") field.notSupported(match, ["Exact", "NotOlderThan", ""]);
  if (match === "Exact" && resourceVersion === "0") {
    field.forbidden('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  }
}

/** Reports an invalid `resourceVersionMatch` of a watch in releases from 1.27 on, which allow one value. */
export function checkWatchMatch(
  { match, token }: Readonly<Record<"match" | "token", string | undefined>>,
  report: FieldReport,
): void {
  if (match === undefined) return;
  const field = report.at("resourceVersionMatch");
  if (match !== "NotOlderThan") field.notSupported(match, ["NotOlderThan"]);
  if (token !== undefined) field.forbidden("resourceVersionMatch is forbidden when continue is provided");
}

/** Seconds after which a client may retry. */
const retryAfterSeconds = 1;

/** The error for a resource version above the latest one. */
export function tooLargeVersion(requested: Revision, latest: Revision): StatusError {
  return new StatusError("Timeout", `Too large resource version: ${requested}, current: ${latest}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version", field: "" }],
    retryAfterSeconds,
  });
}

/** Converts a failure of the store to a status error; returns other errors unchanged. */
export function storeFailure(error: unknown): unknown {
  if (error instanceof RevisionCompactedError) {
    return new StatusError("Expired", `too old resource version: ${error.requested} (${error.floor})`);
  }
  if (error instanceof RevisionTooNewError) return tooLargeVersion(error.requested, error.latest);
  if (error instanceof StoreFullError) {
    const message = "the store has no room for the write; nothing was written; the server's log says more";
    return new StatusError("StoreFull", message, { retryAfterSeconds }, { cause: error });
  }
  if (error instanceof StoreTimeoutError) {
    const message =
      "the store did not come to the write in time; nothing was written; the server's log says why";
    return new StatusError("Timeout", message, { retryAfterSeconds }, { cause: error });
  }
  if (error instanceof StoreValueError) {
    const message = "a stored object that this request reads is damaged; the server's log names it";
    return new StatusError("InternalError", message, {}, { cause: error });
  }
  if (error instanceof EncryptedValueError) {
    const message = "a stored object that this request reads can't be decrypted; the server's log names it";
    return new StatusError("InternalError", message, {}, { cause: error });
  }
  if (error instanceof KeyServiceError) {
    const message =
      "the key management service of the stored objects can't be used at present; the server's log says why";
    return new StatusError("ServiceUnavailable", message, { retryAfterSeconds }, { cause: error });
  }
  if (error instanceof StoreError) {
    const message = "the store can't be used at present; the server's log says why";
    return new StatusError("ServiceUnavailable", message, { retryAfterSeconds }, { cause: error });
  }
  return error;
}
