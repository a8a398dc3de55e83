import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { RequestContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";

/** Queues the request. Requests that arrive together are processed round-robin by user (`flow/fair-turns.ts`). */
export function takeTurn(
  { turns }: HttpService,
  { user }: RequestContext,
  rest: () => MaybePromise<void>,
): MaybePromise<void> {
  return turns.run(user.name, rest);
}
