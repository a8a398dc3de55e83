import { objectForbidden } from "../base/object-errors.ts";
import type { Cause, StatusError } from "../base/status-error.ts";
import { subjectOf, type Target } from "../resources/engine/engine.ts";

/** The error of a plugin that rejects a request: 403 with the object and the reason. */
export function forbidden(
  target: Pick<Target, "resource" | "name">,
  why: string,
  causes?: readonly Cause[],
): StatusError {
  return objectForbidden(subjectOf(target), why, causes);
}
