import { StatusError } from "../base/status-error.ts";

/** What every refusal's message begins with; what follows says why. */
const prefix = "Unauthorized: ";

/**
 * The error of credentials that are of a method's sort and wrong beyond doubt. Whoever sent them reads `why`, so it says
 * nothing that only the owner of good credentials may know.
 */
export function refusal(why: string): StatusError {
  return new StatusError("Unauthorized", prefix + why);
}

/** Whether something thrown is a refusal of credentials, not a defect or an outage. */
export function isRefusal(error: unknown): error is StatusError {
  return error instanceof StatusError && error.reason === "Unauthorized";
}

/** Why a refusal refused; empty where it doesn't say. */
export function reasonOf({ message }: StatusError): string {
  return message.startsWith(prefix) ? message.slice(prefix.length) : "";
}
