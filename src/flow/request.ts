/** What flow control looks at in a request. */
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
  /** Empty for one without namespace. */
  readonly namespace: string;
}

/** A request for a path outside the resources. */
export interface PathRequestFacts {
  readonly kind: "path";
  readonly path: string;
  /** HTTP method in lower case. */
  readonly verb: string;
}

/** Who waits for the answer. */
export interface WaitingClient {
  /** Calls once when the client is gone. */
  onClose(listener: () => void): void;
}
