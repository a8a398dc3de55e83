import { StatusError } from "../base/status-error.ts";

/** Prefix of the error messages of rejected credentials; the reason follows. */
const prefix = "Unauthorized: ";

/**
 * Returns the error for invalid credentials. The client sees `reason`, so it must not contain secrets, such as whether a part of the
 * credentials is right.
 */
export function refusal(reason: string): StatusError {
  return new StatusError("Unauthorized", prefix + reason);
}

/** Whether an error is about invalid credentials, not a bug or an unavailable service. */
export function isRefusal(error: unknown): error is StatusError {
  return error instanceof StatusError && error.reason === "Unauthorized";
}

/** Returns the reason of a {@link refusal}; empty if the error has none. */
export function reasonOf({ message }: StatusError): string {
  return message.startsWith(prefix) ? message.slice(prefix.length) : "";
}
