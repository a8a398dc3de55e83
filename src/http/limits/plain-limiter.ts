import { PlainLimit } from "../../flow/plain-limits.ts";
import type { RequestContext, RequestLimiter } from "../request/context.ts";
import { isLongRunning } from "../request/facts.ts";

const reading = new Set(["get", "list", "watch", "head", "options"]);

/**
 * Limits the number of concurrent requests, separately for reads and writes. Watches, connections and administrators are exempt.
 */
export class PlainLimiter implements RequestLimiter {
  private readonly reading: PlainLimit;
  private readonly changing: PlainLimit;

  /** @param limits numbers of requests; 0 for no limit. */
  constructor(
    limits: { readonly reading: number; readonly changing: number },
    private readonly administrators: string,
  ) {
    this.reading = new PlainLimit(limits.reading);
    this.changing = new PlainLimit(limits.changing);
  }

  /** See {@link RequestLimiter.enter}; never waits. */
  enter(request: RequestContext): undefined {
    const { exchange, facts, user } = request;
    exchange.exempt = user.groups.includes(this.administrators);
    request.limited = true;
    if (isLongRunning(facts) || exchange.exempt) return;
    request.ticket = (reading.has(facts.verb) ? this.reading : this.changing).enter();
  }
}
