import { qualifiedName, quotedSubject, subjectDetails } from "../../base/object-errors.ts";
import { StatusError } from "../../base/status-error.ts";
import { ConnectionLostError, type FaultyRequest } from "../../resources/engine/request-faults.ts";
import type { FaultEffect } from "./fault-rule.ts";
import { targetText, type FaultTarget } from "./fired-fault.ts";

/** Ends the message of an error that a fault causes: `(fault: update configmaps shop/a)`. */
export function faultNote(target: FaultTarget): string {
  return `(fault: ${targetText(target)})`;
}

/** The error of a request's fault, with the texts of the reference and the request. */
export function errorOf(
  effect: Extract<FaultEffect, { error: number }>,
  request: FaultyRequest,
): StatusError {
  const { error, retryAfterSeconds } = effect;
  const retry = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds };
  const note = faultNote(request);
  switch (error) {
    case 409:
      return conflictOf(request, note);
    case 410:
      return new StatusError("Expired", `too old resource version: ${request.notBefore} ${note}`);
    case 429:
      return new StatusError("TooManyRequests", `too many requests, please try again later ${note}`, {
        retryAfterSeconds: retryAfterSeconds ?? 1,
      });
    case 500:
      return new StatusError("InternalError", `Internal error occurred ${note}`, retry);
    case 503:
      return new StatusError("ServiceUnavailable", `the server is currently unavailable ${note}`, retry);
    case 504:
      return new StatusError("Timeout", `the request timed out; it may have been carried out ${note}`, retry);
  }
}

function conflictOf(request: FaultyRequest, note: string): StatusError {
  // The name of an object to create is in the body, which isn't read yet.
  if (request.verb === "create") {
    const type = qualifiedName(request.resource, request.group);
    return new StatusError("AlreadyExists", `an object of ${type} with this name already exists ${note}`, {
      group: request.group,
      kind: request.resource,
    });
  }
  const message =
    `Operation cannot be fulfilled on ${quotedSubject(request)}: the object has been modified; ` +
    `please apply your changes to the latest version and try again ${note}`;
  return new StatusError("Conflict", message, subjectDetails(request));
}

/** The error with which a watch ends. @param target the watch, with the object of the event before which it ends. */
export function watchEndOf(
  { endWatch }: Extract<FaultEffect, { endWatch: string }>,
  target: FaultTarget,
  revision: number,
): Error {
  const note = faultNote(target);
  switch (endWatch) {
    case "closed":
      return new ConnectionLostError(`the server closed the watch ${note}`, true);
    case "expired":
      return new StatusError("Expired", `too old resource version: ${revision - 1} (${revision}) ${note}`);
    case "disconnected":
      return new ConnectionLostError(`the connection of the watch was lost ${note}`);
  }
}
