import { quotedSubject, subjectDetails } from "../../base/object-errors.ts";
import { StatusError } from "../../base/status-error.ts";
import { ConnectionLostError, type FaultyRequest } from "../../resources/engine/request-faults.ts";
import type { FaultEffect } from "./fault-rule.ts";

/** The error of a request's fault, with the texts of the reference. */
export function errorOf(
  effect: Extract<FaultEffect, { error: number }>,
  request: FaultyRequest,
): StatusError {
  const { error, retryAfterSeconds } = effect;
  const retry = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds };
  switch (error) {
    case 409:
      return conflictOf(request);
    case 410:
      return new StatusError("Expired", `too old resource version: ${request.notBefore} (fault)`);
    case 429:
      return new StatusError("TooManyRequests", "too many requests, please try again later (fault)", {
        retryAfterSeconds: retryAfterSeconds ?? 1,
      });
    case 500:
      return new StatusError("InternalError", "Internal error occurred (fault)", retry);
    case 503:
      return new StatusError("ServiceUnavailable", "the server is currently unavailable (fault)", retry);
    case 504:
      return new StatusError("Timeout", "the request timed out; it may have been carried out (fault)", retry);
  }
}

function conflictOf(request: FaultyRequest): StatusError {
  const subject = quotedSubject(request);
  const details = subjectDetails(request);
  if (request.verb === "create")
    return new StatusError("AlreadyExists", `${subject} already exists`, details);
  const message =
    `Operation cannot be fulfilled on ${subject}: the object has been modified; ` +
    "please apply your changes to the latest version and try again";
  return new StatusError("Conflict", message, details);
}

/** The error with which a watch ends. */
export function watchEndOf(
  { endWatch }: Extract<FaultEffect, { endWatch: string }>,
  revision: number,
): Error {
  switch (endWatch) {
    case "closed":
      return new ConnectionLostError("the server closed the watch (fault)", true);
    case "expired":
      return new StatusError("Expired", `too old resource version: ${revision - 1} (${revision})`);
    case "disconnected":
      return new ConnectionLostError("the connection of the watch was lost (fault)");
  }
}
