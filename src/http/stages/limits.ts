import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { RequestContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";

/**
 * Admits the request or lets it wait for a seat. From here on its bytes are charged to its user.
 *
 * @throws {StatusError} TooManyRequests
 */
export function enterLimits({ limits }: HttpService, request: RequestContext): MaybePromise<void> {
  request.exchange.caller = request.user.name;
  request.limiter = limits;
  return limits.enter(request);
}
