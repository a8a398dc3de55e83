import { connectionLimits } from "../transport/connection-limits.ts";
import { StatusError } from "../../base/status-error.ts";
import { sendFailure } from "../answers/respond.ts";
import type { RequestContext } from "../request/context.ts";
import { timeoutParameter } from "../request/parameters.ts";
import type { HttpService } from "../service.ts";

/** Longest delay of a timer in milliseconds. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * Limits a request to its `timeout` parameter, at most to the limit of the server. After that the client gets 504, or its started
 * response is aborted. The work continues and keeps its seat, so that the client doesn't know whether a write took place. Watches and
 * connections have no such limit.
 *
 * @throws {StatusError} BadRequest for an invalid duration.
 */
export function startDeadline(
  service: Pick<HttpService, "clock" | "engine" | "guard">,
  request: RequestContext,
): void {
  const requestedMs = timeoutParameter(request.facts.query);
  if (requestedMs === undefined) return;
  limitTime(service, request, Math.min(requestedMs, connectionLimits.requestTimeoutMs));
}

/** Limits a request to a time unless it has a shorter limit; see {@link startDeadline}. */
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
