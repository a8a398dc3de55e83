import { StatusError } from "../base/status-error.ts";

/** Message of every response to rejected credentials. */
const withoutReason = "Unauthorized";
/** Prefix of the error messages of rejected credentials; the reason follows. */
const prefix = `${withoutReason}: `;

/**
 * Returns the error for invalid credentials. The log, audit events and TokenReviews have `reason`, so it must not contain secrets, such as
 * whether a part of the credentials is right.
 */
export function refusal(reason: string): StatusError {
  return new StatusError("Unauthorized", prefix + reason);
}

/** Returns the error that a client gets: without the reason, as in the reference. */
export function refusalWithoutReason(): StatusError {
  return new StatusError("Unauthorized", withoutReason);
}

/** Whether an error is about invalid credentials, not a bug or an unavailable service. */
export function isRefusal(error: unknown): error is StatusError {
  return error instanceof StatusError && error.reason === "Unauthorized";
}

/** Returns the reason of an error for which {@link isRefusal} holds; empty if it has none. */
export function reasonOf({ message }: StatusError): string {
  if (message === withoutReason) return "";
  return message.startsWith(prefix) ? message.slice(prefix.length) : message;
}
