import type { Clock, Timer } from "../../base/clock.ts";
import type { RequestContext } from "../request/context.ts";
import type { RequestLimiter } from "./limiter.ts";

/**
 * A request keeps its seat for so long while it waits for its client; after that it gives the seat to requests that wait
 * for one. Else clients that send or read nothing would keep everybody of their priority level out.
 */
export const patienceMs = 250;

/** Gives a request's seat back as soon as it has waited for its client for {@link patienceMs} and others wait for seats. */
class YieldingSeat {
  private timer: Timer;

  constructor(
    private readonly clock: Clock,
    private readonly request: RequestContext,
  ) {
    this.timer = clock.setTimer(() => this.look(), patienceMs);
  }

  /** The client did what was waited for. */
  stop(): void {
    this.timer.cancel();
  }

  private look(): void {
    const { request } = this;
    if (request.ticket === undefined) return;
    if (request.ticket.contended) releaseSeat(request);
    else this.timer = this.clock.setTimer(() => this.look(), patienceMs);
  }
}

/**
 * Gives a request's seat back when it is answered and the client has taken the answer, or others wait for a seat and it
 * doesn't take it.
 */
export function releaseWhenTaken({ clock }: { readonly clock: Clock }, request: RequestContext): void {
  const { unsent } = request.exchange;
  if (unsent === undefined || request.ticket === undefined) return releaseSeat(request);
  const seat = new YieldingSeat(clock, request);
  unsent.onTaken(() => {
    seat.stop();
    releaseSeat(request);
  });
}

/**
 * Waits for a server of others to whom a request was passed on. While others wait for its seat the request has none, and it
 * needs none again: the work is the other server's.
 */
export async function awaitOther<T>(
  { clock }: { readonly clock: Clock },
  request: RequestContext,
  work: Promise<T>,
): Promise<T> {
  const seat = request.ticket === undefined ? undefined : new YieldingSeat(clock, request);
  try {
    return await work;
  } finally {
    seat?.stop();
  }
}

/** Gives a request's seat back, if it has one. */
function releaseSeat(request: RequestContext): void {
  const { ticket } = request;
  request.ticket = undefined;
  ticket?.release();
}

/**
 * Waits for what the client of a request sends. Where the request has to give its seat away meanwhile, it waits for
 * another one before it goes on.
 *
 * @throws {StatusError} TooManyRequests: there was no seat again.
 */
export async function awaitClient<T>(
  { clock, limits }: { readonly clock: Clock; readonly limits: RequestLimiter },
  request: RequestContext,
  sent: Promise<T>,
): Promise<T> {
  const seat = request.ticket === undefined ? undefined : new YieldingSeat(clock, request);
  let value: T;
  try {
    value = await sent;
  } finally {
    seat?.stop();
  }
  if (seat !== undefined && request.ticket === undefined) await limits.enter(request);
  return value;
}
