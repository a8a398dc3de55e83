import { objectForbidden } from "../base/object-errors.ts";
import type { Cause, StatusError } from "../base/status-error.ts";
import { subjectOf, type Target } from "../resources/engine/engine.ts";

/** The error with which a plugin rejects a request: 403, with the object that it is about and the reason. */
export function forbidden(
  target: Pick<Target, "resource" | "name">,
  why: string,
  causes?: readonly Cause[],
): StatusError {
  return objectForbidden(subjectOf(target), why, causes);
}
