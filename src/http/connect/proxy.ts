import type { HttpService } from "../service.ts";
import type { ResourceContext } from "../request/context.ts";
import { forwardRequest } from "./forward.ts";
import { nodeDestination } from "./nodes.ts";
import { Objects } from "./objects.ts";
import { confineAnswer } from "../backends/confined-answer.ts";
import { podDestination } from "./pods.ts";
import { hostAndPort, type Destination } from "../backends/rules.ts";
import { serviceDestination } from "./services.ts";
import { type ResourceFacts, splitAfter, type SplitPath } from "../request/facts.ts";

/** Serves `proxy` of a pod, service or node: forwards the request. A GET without a path is redirected to the path `/`. */
export async function serveProxy(service: HttpService, request: ResourceContext): Promise<void> {
  const { exchange, facts } = request;
  const { before: prefix, after: path } = connectionPath(facts);
  const query = queryOf(exchange.url);
  const destination = await destinationOf(service, request);
  if (path === "" && exchange.upgrade === undefined && ["GET", "HEAD"].includes(exchange.method)) {
    // Relative links of the proxied pages need the trailing slash.
    exchange.send(301, ["Location", `${facts.sentPath}/${query}`], new Uint8Array());
    return;
  }
  await forwardRequest(service, request, {
    destination,
    path: `${path === "" ? "/" : path}${query}`,
    rewriteHeaders: (lines) =>
      confineAnswer(rewriteLocation(lines, destination, prefix, exchange.header("host")), prefix),
  });
}

function destinationOf(
  { engine, connections }: HttpService,
  { facts, target, user }: ResourceContext,
): Promise<Destination> {
  const objects = new Objects(engine, target.namespace, user);
  switch (target.resource.name) {
    case "nodes":
      return nodeDestination(objects, facts.name, connections);
    case "services":
      return serviceDestination(objects, facts.name, connections, engine.randomInt);
    default:
      return podDestination(objects, facts.name, connections);
  }
}

/** Maps a redirect within the backend to the path of the proxy, as in the reference. */
function rewriteLocation(
  lines: string[],
  destination: Destination,
  prefix: string,
  host: string | undefined,
): string[] {
  const at = lines.findIndex((name, index) => index % 2 === 0 && name === "location");
  if (at === -1) return lines;
  const location = lines[at + 1]!;
  const own = new Set([hostAndPort(destination), destination.host, host]);
  const absolute = /^https?:\/\/([^/?#]*)(\/[^]*)?$/.exec(location);
  const path =
    absolute !== null
      ? own.has(absolute[1])
        ? (absolute[2] ?? "/")
        : undefined
      : /^\/(?!\/)/.test(location)
        ? location
        : undefined;
  if (path === undefined || path.startsWith(`${prefix}/`)) return lines;
  return lines.with(at + 1, `${prefix}${path}`);
}

/** Splits the path of a connection from the rest, both as sent by the client. */
export function connectionPath({ sentPath, group, namespace }: ResourceFacts): SplitPath {
  // api/v1 or apis/group/v1; namespaces/x; resource, name and subresource.
  return splitAfter(sentPath, (group === "" ? 2 : 3) + (namespace === "" ? 0 : 2) + 3);
}

/** Returns the query of a URL as sent, with its question mark; empty without one. */
export function queryOf(url: string): string {
  const mark = url.indexOf("?");
  return mark === -1 ? "" : url.slice(mark);
}
