import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import { groupHint } from "../../vocabulary/other-vocabulary.ts";
import type { RequestContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";
import { codesPath, userPath } from "../documents/console/console-pages.ts";
import { serveAggregated } from "../connect/aggregated.ts";
import { serveResource } from "../verbs/serve-resource.ts";
import { ConnectionLostError, type RequestFaults } from "../../resources/engine/request-faults.ts";
import { isConnection } from "../request/facts.ts";

/** Serves a request, with the faults of a test if there are any. @throws {StatusError} as {@link serveVerb} */
export function serve(service: HttpService, request: RequestContext): MaybePromise<void> {
  const faults = service.faults.current;
  return faults === undefined
    ? serveVerb(service, request)
    : injectFaults(faults, service, request, serveVerb);
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
  if (facts.path === userPath && service.console !== undefined && facts.verb === "get") {
    service.console.sendUser(request);
    return undefined;
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
  return handler(request, service) ?? undefined;
}

/**
 * Injects the faults of a test (`server.faults`) into a request for a resource: an error or a lost connection instead of the
 * response, a delay, or an engine whose state is stale or whose watches are disturbed. Connections to pods, services and nodes have no
 * faults.
 *
 * @param serveVerb serves the request; the service may have another engine.
 * @throws {StatusError} the error of a fault.
 */
function injectFaults(
  faults: RequestFaults,
  service: HttpService,
  request: RequestContext,
  serveVerb: (service: HttpService, request: RequestContext) => MaybePromise<void>,
): MaybePromise<void> {
  const { facts } = request;
  if (facts.kind !== "resource" || isConnection(facts)) return serveVerb(service, request);
  const { verb, group, resource, subresource, name } = facts;
  const { exchange, user } = request;
  // The path of a namespace contains it as namespace and as name.
  const namespace = group === "" && resource === "namespaces" ? "" : facts.namespace;
  const notBefore = facts.query.empty ? 0 : Number(facts.query.get("resourceVersion") ?? 0) || 0;
  const attributes = { user: user.name, verb, group, resource, subresource, namespace, name, notBefore };
  const served = faults.run({ ...attributes, life: undefined }, service.engine, (engine, isLost) => {
    // An expired exchange drops its response.
    if (isLost) exchange.expired = true;
    return serveVerb(engine === service.engine ? service : { ...service, engine }, request);
  });
  return served instanceof Promise ? served.catch((error: unknown) => fail(request, error)) : served;
}

/** Ends the connection of a request that gets no response; throws other errors for the pipeline to answer. */
function fail({ exchange }: RequestContext, error: unknown): void {
  exchange.expired = false;
  if (!(error instanceof ConnectionLostError)) throw error;
  exchange.breakOff();
}
