import { StatusError } from "../../base/status-error.ts";
import { serveLog, serveStream } from "../connect/node-agent.ts";
import { serveProxy } from "../connect/proxy.ts";
import { readFacts } from "../request/facts.ts";
import type { HttpService } from "../service.ts";
import type { ResourceContext } from "../request/context.ts";

/** A connection to what an object stands for: `proxy`, `log`, `exec`, `attach`, `portforward`. */
export function serveConnect(service: HttpService, request: ResourceContext): Promise<void> {
  const { facts, target, exchange } = request;
  service.metrics.longRunning(facts, exchange);
  const { subresource } = target;
  if (subresource === "proxy") return serveProxy(service, request);
  if (facts.rest !== "")
    throw new StatusError("NotFound", "the server could not find the requested resource");
  switch (subresource) {
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

/** Whether a request may leave HTTP: only one for a connection to something else. */
export function mayUpgrade({ engine }: Pick<HttpService, "engine">, method: string, url: string): boolean {
  try {
    const facts = readFacts(method, url);
    if (facts.kind !== "resource" || facts.subresource === "") return false;
    const subresources =
      engine.registry.find(facts.group, facts.version, facts.resource)?.kind.subresources ?? {};
    return (
      Object.hasOwn(subresources, facts.subresource) && subresources[facts.subresource]!.shape === "connect"
    );
  } catch (error) {
    // A path that can't be read is refused in its turn.
    if (error instanceof StatusError) return false;
    throw error;
  }
}
