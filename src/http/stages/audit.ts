import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { RequestContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";

/**
 * Records that the request has come, where it is audited; the hooks record what becomes of it.
 *
 * @throws {StatusError} InternalError where a strict backend couldn't write the event.
 */
export function recordReceived(_service: HttpService, { audit }: RequestContext): MaybePromise<void> {
  return audit?.received();
}
