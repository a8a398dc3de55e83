import type { RequestContext } from "../request/context.ts";

/** Admits requests. */
export interface RequestLimiter {
  /**
   * Admits a request by its attributes and user, and sets its ticket. Returns a promise only if the request must wait. A request that
   * released its seat may enter again.
   *
   * @throws {StatusError} TooManyRequests.
   */
  enter(request: RequestContext): Promise<void> | undefined;
}
