import { StatusError } from "../../base/status-error.ts";
import { serveLog, serveStream } from "../connect/node-agent.ts";
import { serveProxy } from "../connect/proxy.ts";
import { admitConnection } from "../../resources/writes/write.ts";
import { connectOptions } from "../connect/connect-options.ts";
import { readFacts, workspaceUrlOf } from "../request/facts.ts";
import { reportOf, type ResourceContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";

/** Connects to the backend of an object: `proxy`, `log`, `exec`, `attach`, `portforward`. */
export async function serveConnect(service: HttpService, request: ResourceContext): Promise<void> {
  const { facts, target, exchange, workspace } = request;
  // The administrators of a workspace could give its objects any address.
  if (workspace !== undefined)
    throw new StatusError("Forbidden", "workspaces have no connections to pods, services and nodes");
  service.metrics.longRunning(facts, exchange);
  const { subresource } = target;
  if (subresource !== "proxy" && facts.rest !== "") {
    throw new StatusError("NotFound", "the server could not find the requested resource");
  }
  // `log` only reads, which is not subject to admission.
  if (subresource !== "log") await admitAsked(service, request);
  switch (subresource) {
    case "proxy":
      return serveProxy(service, request);
    case "log":
      return serveLog(service, request);
    case "attach":
    case "exec":
    case "portforward":
      return serveStream(service, request, subresource);
    default:
      throw new StatusError("ServiceUnavailable", `${subresource} can't be reached`);
  }
}

/** Runs admission for a connection, if a plugin handles it (spec: conventions 4.13). */
async function admitAsked({ engine }: HttpService, request: ResourceContext): Promise<void> {
  const { facts, target, user } = request;
  if (!engine.admit.concerns("CONNECT", target)) return;
  const options = { user, dryRun: false, fieldManager: "", report: reportOf(request) };
  await admitConnection(engine, target, connectOptions(target, facts), options);
}

/**
 * Whether a request may upgrade its connection: only connections, requests to extension servers, and watches as WebSockets. In a
 * workspace only watches.
 *
 * @param protocol the requested protocol.
 */
export function mayUpgrade(
  { engine, apiServices, workspaces }: Pick<HttpService, "engine" | "apiServices" | "workspaces">,
  method: string,
  url: string,
  protocol: string,
): boolean {
  try {
    const whole = readFacts(method, url);
    const within = workspaces && workspaceUrlOf(whole, url);
    const facts = within === undefined ? whole : readFacts(method, within.url);
    if (facts.kind !== "resource" || !facts.atVersion) return false;
    const isRemote = apiServices.find(facts.group, facts.version) !== undefined;
    if (isRemote && within === undefined) return true;
    if (facts.verb === "watch") return protocol.toLowerCase() === "websocket";
    // Workspaces have no connections to pods, services and nodes.
    if (within !== undefined) return false;
    if (facts.subresource === "") return false;
    const subresources =
      engine.registry.find(facts.group, facts.version, facts.resource)?.kind.subresources ?? {};
    return (
      Object.hasOwn(subresources, facts.subresource) && subresources[facts.subresource]!.shape === "connect"
    );
  } catch (error) {
    // A later stage rejects a malformed path.
    if (error instanceof StatusError) return false;
    throw error;
  }
}
