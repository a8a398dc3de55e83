import { StatusError } from "../base/status-error.ts";

/** The seats of an admitted request. */
export interface Ticket {
  /** Releases the seats; must be called exactly once. */
  release(): void;
  /** Whether other requests wait for seats or are rejected. */
  readonly contended: boolean;
}

const retryAfterSeconds = 1;

/** The error of a request that gets no seat. */
export function tooManyRequests(): StatusError {
  return new StatusError("TooManyRequests", "Too many requests, please try again later.", {
    retryAfterSeconds,
  });
}
