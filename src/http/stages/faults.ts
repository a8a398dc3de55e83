import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { ConnectionLostError } from "../../resources/engine/connection-lost-error.ts";
import type { RequestFaults } from "../../resources/engine/request-faults.ts";
import type { RequestContext } from "../request/context.ts";
import { isConnection } from "../request/facts.ts";
import type { HttpService } from "../service.ts";

/**
 * Injects the faults of a test (`server.faults`) into a request for a resource: an error or a lost connection instead of the
 * response, a delay, or an engine whose state is stale or whose watches are disturbed. Connections to pods, services and nodes have no
 * faults.
 *
 * @param serveVerb serves the request; the service may have another engine.
 * @throws {StatusError} the error of a fault.
 */
export function injectFaults(
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
