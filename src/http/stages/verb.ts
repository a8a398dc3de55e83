import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import { groupHint } from "../../vocabulary/other-vocabulary.ts";
import type { RequestContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";
import { codesPath } from "../documents/console/console-pages.ts";
import { serveAggregated } from "../connect/aggregated.ts";
import { serveResource } from "../verbs/serve-resource.ts";
import { injectFaults } from "./faults.ts";

/** Serves a request, with the faults of a test if there are any. @throws {StatusError} as {@link serveVerb} */
export function serve(service: HttpService, request: RequestContext): MaybePromise<void> {
  return service.faults === undefined
    ? serveVerb(service, request)
    : injectFaults(service.faults, service, request, serveVerb);
}

/**
 * Serves the verb of a resource (`verbs/`) or a non-resource path, or forwards the request to the extension server of its group
 * version.
 *
 * @throws {StatusError} any
 */
function serveVerb(service: HttpService, request: RequestContext): MaybePromise<void> {
  const { facts, exchange, remote } = request;
  if (remote !== undefined) return serveAggregated(service, request, remote);
  if (facts.kind === "resource") return serveResource(service, request, facts);
  if (exchange.method === "POST" && service.console !== undefined && facts.path === codesPath) {
    return service.console.createCode(request);
  }
  const handler = service.paths.find(facts.path);
  if (handler === undefined) {
    // `/apis/GROUP` and paths below it.
    const hint = groupHint(facts.path.split("/", 3)[2] ?? "", service.engine.vocabulary);
    throw new StatusError("NotFound", `the server could not find the requested resource${hint}`);
  }
  if (!service.paths.allows(facts.path, exchange.method)) {
    throw new StatusError(
      "MethodNotAllowed",
      "the server does not allow this method on the requested resource",
    );
  }
  return handler(request) ?? undefined;
}
