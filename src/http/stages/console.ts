import type { PathHandler } from "../request/path-table.ts";
import type { RequestContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";

/** Returns the handler of a request for the console that needs no authentication; undefined for all other requests. */
export function findConsolePage({ console }: HttpService, request: RequestContext): PathHandler | undefined {
  return console?.publicHandler(request);
}
