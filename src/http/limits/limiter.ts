import type { RequestContext } from "../request/context.ts";

/** Decides whether there is room for a request. */
export interface RequestLimiter {
  /**
   * Takes a request in, by its facts and user: it is given the ticket that is released at its end. A promise only where it
   * must wait. A request that gave its seat back on the way may be taken in again.
   *
   * @throws {StatusError} TooManyRequests.
   */
  enter(request: RequestContext): Promise<void> | undefined;
}
