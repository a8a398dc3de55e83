import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { RequestContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";

/**
 * Records the stage RequestReceived of an audited request; later stages are recorded by its audit hooks.
 *
 * @throws {StatusError} InternalError if a strict backend can't write the event.
 */
export function recordReceived(_service: HttpService, { audit }: RequestContext): MaybePromise<void> {
  return audit?.received();
}
