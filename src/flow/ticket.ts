import { StatusError } from "../base/status-error.ts";

/** The right of one request to be worked on; given back when it is done. */
export interface Ticket {
  /** Called exactly once. */
  release(): void;
  /** Whether other requests wait for seats, or are refused for want of some. */
  readonly contended: boolean;
}

const retryAfterSeconds = 1;

/** The refusal of a request for which there is no room. */
export function tooManyRequests(): StatusError {
  return new StatusError("TooManyRequests", "Too many requests, please try again later.", {
    retryAfterSeconds,
  });
}
