/** A request that a server has answered. */
export interface RecordedRequest {
  /** HTTP method. A request of a client in the process has that of the same request over HTTP. */
  readonly method: string;
  /** Path as sent, without the query. */
  readonly path: string;
  /** Query as sent, without the question mark; empty for none and for a client in the process. */
  readonly query: string;
  /** API verb, for example `list` or `deletecollection`; for a non-resource path the method in lower case. */
  readonly verb: string;
  /** Full name of the API group; empty for the core group and for a non-resource path. */
  readonly group: string;
  /** Resource type, for example `pods`; empty for a non-resource path. */
  readonly resource: string;
  /** Empty for the resource itself. */
  readonly subresource: string;
  /** Empty for cluster scope and all namespaces. */
  readonly namespace: string;
  /** Empty for a collection. */
  readonly name: string;
  /** Name of the effective user, after impersonation; empty if the request was rejected before. */
  readonly user: string;
  readonly groups: readonly string[];
  /** HTTP status; 0 if the connection was closed before the response. */
  readonly status: number;
  /** Milliseconds until the response was complete; for a watch, until it started. */
  readonly durationMs: number;
  /** Empty if the request has none. */
  readonly userAgent: string;
  /** Whether it is a request of a client in the process, of `server.as()`. */
  readonly inProcess: boolean;
}

/** The fields that recorded requests are compared with; see {@link RequestLog.filter}. */
export type RequestFilter = Partial<Omit<RecordedRequest, "groups" | "durationMs">>;

const filterFields: Readonly<Record<keyof RequestFilter, true>> = {
  method: true,
  path: true,
  query: true,
  verb: true,
  group: true,
  resource: true,
  subresource: true,
  namespace: true,
  name: true,
  user: true,
  status: true,
  userAgent: true,
  inProcess: true,
};

/** Number of requests that are kept. */
const maxRequests = 10_000;

/**
 * The newest 10,000 requests that a server has answered, in the order in which they were complete.
 *
 * @example
 * const deleted = server.requests.filter({ verb: "delete", user: "system:serviceaccount:shop:operator" });
 * for (const { path, status } of server.requests) console.log(path, status);
 */
export class RequestLog implements Iterable<RecordedRequest> {
  private records: RecordedRequest[] = [];

  /** Number of requests. */
  get length(): number {
    return Math.min(this.records.length, maxRequests);
  }

  /** Iterates over the requests, the oldest first. Later requests don't change an iteration. */
  [Symbol.iterator](): Iterator<RecordedRequest> {
    return this.newest()[Symbol.iterator]();
  }

  /**
   * Returns the requests with the values of a filter, the oldest first.
   *
   * @throws {TypeError} if a request has no such field.
   */
  filter(values: RequestFilter): RecordedRequest[] {
    const expected = Object.entries(values).filter(([, value]) => value !== undefined);
    const unknown = expected.find(([field]) => !Object.hasOwn(filterFields, field));
    if (unknown !== undefined) {
      const allowed = Object.keys(filterFields).join(", ");
      throw new TypeError(`requests can't be filtered by ${JSON.stringify(unknown[0])}, only by ${allowed}`);
    }
    return this.newest().filter((request) =>
      expected.every(([field, value]) => request[field as keyof RequestFilter] === value),
    );
  }

  /** Removes all requests. */
  clear(): void {
    this.records = [];
  }

  /** @internal Adds a request. */
  add(request: RecordedRequest): void {
    this.records.push(request);
    if (this.records.length >= 2 * maxRequests) this.records = this.newest();
  }

  private newest(): RecordedRequest[] {
    return this.records.slice(-maxRequests);
  }
}
