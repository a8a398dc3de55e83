import type { Clock, Timer } from "../../base/clock.ts";
import type { RequestContext } from "../request/context.ts";
import type { RequestLimiter } from "./limiter.ts";

/**
 * Milliseconds for which a request that waits for its client keeps its seat. After that it releases the seat to waiting requests:
 * otherwise clients that neither send nor read would block their priority level.
 */
export const clientWaitMs = 250;

/** Releases the seat of a request that has waited for its client for {@link clientWaitMs}, once other requests wait for seats. */
class YieldingSeat {
  private timer: Timer;

  constructor(
    private readonly clock: Clock,
    private readonly request: RequestContext,
  ) {
    this.timer = clock.setTimer(() => this.look(), clientWaitMs);
  }

  /** Ends the wait. */
  stop(): void {
    this.timer.cancel();
  }

  private look(): void {
    const { request } = this;
    if (request.ticket === undefined) return;
    if (request.ticket.contended) releaseSeat(request);
    else this.timer = this.clock.setTimer(() => this.look(), clientWaitMs);
  }
}

/**
 * Releases the seat of a request with a complete response: when the client has read it, or when it doesn't read and other requests
 * wait for a seat.
 */
export function releaseWhenTaken({ clock }: { readonly clock: Clock }, request: RequestContext): void {
  const { backlog } = request.exchange;
  if (backlog === undefined || request.ticket === undefined) return releaseSeat(request);
  const seat = new YieldingSeat(clock, request);
  backlog.onTaken(() => {
    seat.stop();
    releaseSeat(request);
  });
}

/**
 * Waits for the extension server to which a request was forwarded. If other requests wait for a seat, the request releases its own
 * and doesn't acquire another one: the extension server does the work.
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

/** Releases the seat of a request, if it has one. */
function releaseSeat(request: RequestContext): void {
  const { ticket } = request;
  request.ticket = undefined;
  ticket?.release();
}

/**
 * Waits for the client of a request, or for memory. If the request releases its seat meanwhile, it then waits for another one.
 *
 * @throws {StatusError} TooManyRequests if it gets none.
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
