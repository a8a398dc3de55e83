import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { awaitClient } from "../limits/seat-release.ts";
import type { RequestContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";

/** Waits until the client has read enough of the previous responses on its connection. */
export function awaitRoom(service: HttpService, request: RequestContext): MaybePromise<void> {
  const room = request.exchange.connection.backlog?.room();
  if (room === undefined) return undefined;
  request.waitedForClient = true;
  return awaitClient(service, request, room);
}
