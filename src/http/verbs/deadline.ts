import { connectionLimits } from "../transport/connection-limits.ts";
import { StatusError } from "../../base/status-error.ts";
import { sendFailure } from "../answers/respond.ts";
import type { RequestContext } from "../request/context.ts";
import { timeoutParameter } from "../request/parameters.ts";
import type { HttpService } from "../service.ts";

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
  const timeoutMs = Math.min(asked, connectionLimits.requestTimeoutMs);
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
  request.expiresAt = service.clock.now() + timeoutMs;
  request.deadline = service.clock.setTimer(() => service.guard.run("deadline", expire, ends), timeoutMs);
}
