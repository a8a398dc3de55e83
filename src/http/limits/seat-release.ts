import type { Clock, Timer } from "../../base/time/clock.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { RequestContext } from "../request/context.ts";
import { drainInTime, type BodyStream } from "../transport/body-stream.ts";

/**
 * Milliseconds for which a request that waits for its client keeps its seat. After that it releases the seat to waiting requests:
 * otherwise clients that neither send nor read would block their priority level. Its waits are added up: a client that reads a page
 * in each quarter of a second waits too.
 */
export const clientWaitMs = 250;

/** Releases the seat of a request that has waited for its client for {@link clientWaitMs}, once other requests wait for seats. */
class YieldingSeat {
  private timer: Timer;
  private readonly startMs: number;

  constructor(
    private readonly clock: Clock,
    private readonly request: RequestContext,
  ) {
    this.startMs = clock.monotonicNow();
    this.timer = clock.setTimer(() => this.look(), Math.max(0, clientWaitMs - request.clientWaitMs));
  }

  /** Ends the wait. */
  stop(): void {
    this.timer.cancel();
    this.request.clientWaitMs += this.clock.monotonicNow() - this.startMs;
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
  request.clientWaitMs = 0;
  ticket?.release();
}

/**
 * Waits for the client of a request, or for memory. If the request releases its seat meanwhile, it then waits for another one.
 *
 * @param isConnected whether the request still needs a seat after the wait.
 * @throws {StatusError} TooManyRequests if it gets none.
 */
export async function awaitClient<T>(
  { clock }: { readonly clock: Clock },
  request: RequestContext,
  sent: Promise<T>,
  isConnected: () => boolean = () => true,
): Promise<T> {
  const seat = request.ticket === undefined ? undefined : new YieldingSeat(clock, request);
  let value: T;
  try {
    value = await sent;
  } finally {
    seat?.stop();
  }
  if (seat !== undefined && request.ticket === undefined && isConnected()) {
    await request.limiter!.enter(request);
    request.clientWaitMs = 0;
  }
  return value;
}

/**
 * Waits until the client of a request has read most of the written bytes; meanwhile the request yields its seat to waiting requests.
 * Nothing else waits for the reader of a response (`test/tidy/client-waits.test.ts`).
 *
 * @returns undefined if there is nothing to wait for.
 * @throws {StatusError} Timeout if the client stalls; TooManyRequests if the request has released its seat and gets no other one.
 */
export function awaitDrain(clock: Clock, request: RequestContext, stream: BodyStream): MaybePromise<void> {
  if (!stream.needsDrain) return undefined;
  return awaitClient({ clock }, request, drainInTime(stream, clock), () => !stream.closed);
}
