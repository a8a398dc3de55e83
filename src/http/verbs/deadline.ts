import { connectionLimits } from "../transport/connection-limits.ts";
import { StatusError } from "../../base/status-error.ts";
import { sendFailure } from "../answers/respond.ts";
import type { RequestContext } from "../request/context.ts";
import { timeoutParameter } from "../request/parameters.ts";
import type { HttpService } from "../service.ts";

/** A timer counts no further, in milliseconds. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * Limits a request to the time that its `timeout` parameter gives it, at most the server's own. When that is over its client
 * gets 504, or what it has of the answer is cut off. The work itself goes on, and the request's seat is held until it is
 * done: the client doesn't know whether a write took place. Not for watches and connections, which may last.
 *
 * @throws {StatusError} BadRequest for text that is no length of time.
 */
export function startDeadline(
  service: Pick<HttpService, "clock" | "engine" | "guard">,
  request: RequestContext,
): void {
  const asked = timeoutParameter(request.facts.query);
  if (asked === undefined) return;
  limitTime(service, request, Math.min(asked, connectionLimits.requestTimeoutMs));
}

/** Limits a request to a time, if it isn't to a shorter one; see {@link startDeadline}. */
export function limitTime(
  service: Pick<HttpService, "clock" | "engine" | "guard">,
  request: RequestContext,
  limitMs: number,
): void {
  const timeoutMs = Math.min(limitMs, longestTimerMs);
  const expiresAt = service.clock.monotonicNow() + timeoutMs;
  if (request.expiresAt !== undefined && request.expiresAt <= expiresAt) return;
  request.deadline?.cancel();
  const { exchange } = request;
  const expire = () => {
    if (exchange.answered) exchange.breakOff();
    else {
      const error = new StatusError("Timeout", `the request did not complete within ${timeoutMs} ms`);
      sendFailure(request, service.engine.vocabulary, error);
    }
    exchange.expired = true;
  };
  const ends = { destroy: () => exchange.breakOff() };
  request.expiresAt = expiresAt;
  request.deadline = service.clock.setTimer(() => service.guard.run("deadline", expire, ends), timeoutMs);
}
