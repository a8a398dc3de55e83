import { StatusError } from "../base/status-error.ts";

/** The attributes of a request that flow control reads. */
export type FlowRequest = ResourceRequestFacts | PathRequestFacts;

/** A request for a resource. */
export interface ResourceRequestFacts {
  readonly kind: "resource";
  readonly path: string;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** Empty for the resource itself. */
  readonly subresource: string;
  /** Empty if there is none. */
  readonly namespace: string;
}

/** A request for a non-resource path. */
export interface PathRequestFacts {
  readonly kind: "path";
  readonly path: string;
  /** HTTP method in lower case. */
  readonly verb: string;
}

/** The client of a waiting request. */
export interface WaitingClient {
  /** Calls the listener once when the client has disconnected. */
  onClose(listener: () => void): void;
}

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
