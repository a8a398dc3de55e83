import type { ApiServices } from "../../aggregation/api-services.ts";
import type { RemoteApiService } from "../../aggregation/remote-api-service.ts";
import { StoreError } from "../../storage/store.ts";
import { lifeCycleOf, deprecationWarning } from "../../kinds/life-cycles.ts";
import type { RequestContext } from "../request/context.ts";
import {
  isLongRunning,
  readFacts,
  workspaceUrlOf,
  type PathFacts,
  type RequestFacts,
  type ResourceFacts,
} from "../request/facts.ts";
import { timeoutParameter } from "../request/parameters.ts";
import { andThen, detach, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { HttpService } from "../service.ts";
import { StatusError } from "../../base/status-error.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";
import type { Registry, Resource } from "../../resources/registry/registry.ts";
import { offeredProtocols } from "../../authentication/websocket-token.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/**
 * Reads the request attributes from method and path, and rejects an ambiguous host, writes of pages of other sites, and
 * requests of proxied pages for other paths. On paths that are no resources, rejects a `timeout` that isn't a duration.
 *
 * @throws {StatusError} BadRequest, Forbidden
 */
export function readRequestFacts(service: HttpService, request: RequestContext): MaybePromise<void> {
  const { exchange } = request;
  const facts = readFacts(exchange.method, request.workspace?.url ?? exchange.url);
  request.facts = facts;
  if (service.workspaces !== undefined) request.workspace = workspaceUrlOf(facts, exchange.url);
  // Requests of resources have a deadline, which reads the parameter.
  if (
    facts.kind === "path" &&
    !facts.query.empty &&
    !isLongRunning(facts) &&
    !entersWorkspace(service, request)
  )
    timeoutParameter(facts.query);
  refuseAmbiguousHost(exchange);
  refuseForeignPage(exchange, service.engine.vocabulary);
  refuseProxiedPage(exchange, request.facts);
  return findServed(service, request, request.facts);
}

/** Whether the next stage passes the request to a workspace. */
function entersWorkspace({ workspaces }: HttpService, { workspace }: RequestContext): boolean {
  return workspaces !== undefined && workspace !== undefined;
}

/**
 * Finds what serves a request with these facts: a resource type, an extension server or a path. Adds a warning if the version is
 * deprecated.
 */
export function findServed(
  service: HttpService,
  request: RequestContext,
  facts: RequestFacts,
): MaybePromise<void> {
  request.facts = facts;
  if (facts.kind === "path") {
    if (!tellsKinds(facts.path)) return findPath(service, request, facts);
    // Groups of custom kinds have documents only while there are definitions.
    learnCustomKinds(service);
    return andThen(service.engine.registry.readAll(), () => findPath(service, request, facts));
  }
  if (!facts.atVersion) return;
  const remote = service.apiServices.find(facts.group, facts.version);
  if (remote !== undefined) {
    request.remote = remote;
    request.served = remote.serves(facts.resource, facts.subresource);
    return;
  }
  const { registry } = service.engine;
  if (registry.isBuiltIn(facts.group)) return findResource(service, request, facts);
  // Does not query the store for unknown groups; otherwise a client could force round trips.
  if (!registry.knows(facts.group)) learnCustomKinds(service);
  if (!registry.knows(facts.group)) return;
  return andThen(registry.sync(), () => findResource(service, request, facts));
}

/** Whether the response at a path depends on the custom kinds. */
function tellsKinds(path: string): boolean {
  return path.startsWith("/apis") || path.startsWith("/openapi") || path === "/";
}

/**
 * Updates the custom kinds if the store answers synchronously. It doesn't wait for a store over a network, which may be unreachable and
 * sends its changes soon anyway.
 */
function learnCustomKinds({ engine }: HttpService): void {
  try {
    // The follower of definitions logs the error.
    detach(engine.registry.sync(), () => undefined);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
}

function findPath({ paths, apiServices }: HttpService, request: RequestContext, { path }: PathFacts): void {
  request.remote = remoteAt(path, apiServices);
  request.served = request.remote !== undefined || paths.find(path) !== undefined;
}

/** The extension server with the discovery document of `/apis/<group>/<version>`, if it isn't this server. */
function remoteAt(path: string, apiServices: ApiServices): RemoteApiService | undefined {
  if (!path.startsWith("/apis/")) return undefined;
  const [, , group = "", version = "", ...more] = path.split("/", 6);
  return more.length === 0 || (more.length === 1 && more[0] === "")
    ? apiServices.find(group, version)
    : undefined;
}

function findResource(service: HttpService, request: RequestContext, facts: ResourceFacts): void {
  const resource = service.engine.registry.find(facts.group, facts.version, facts.resource);
  if (resource === undefined) return;
  const { subresource, pathVerb } = facts;
  if (pathVerb === "proxy") return;
  // Paths below /watch exist for resources that can be watched.
  if (pathVerb === "watch" && (subresource !== "" || !resource.kind.verbs.includes("watch"))) return;
  request.resource = resource;
  request.served = subresource === "" || Object.hasOwn(resource.kind.subresources, subresource);
  // Of custom kinds also if the definition has no such subresource, as in discovery.
  if (request.served || resource.kind.custom !== undefined)
    announceDeprecation(service, request, subresource);
}

/** The deprecation warning (spec: conventions 9.2). */
function announceDeprecation(service: HttpService, request: RequestContext, subresource: string): void {
  const resource = request.resource!;
  const warning = deprecationOf(resource, service.engine.registry);
  if (warning === "") return;
  service.metrics.deprecated(resource, subresource);
  const { group, version, name } = resource.kind;
  request.audit?.deprecated(lifeCycleOf(group, version, name)?.removed);
  request.exchange.addHeaders(["Warning", `299 - ${JSON.stringify(warning)}`]);
}

/**
 * Rejects a request with an ambiguous host (RFC 9112 section 3.2, RFC 9113 section 8.3.1): several Host headers, or a Host header that
 * differs from `:authority`. A proxy before the server may have checked the other value.
 *
 * @throws {StatusError} BadRequest
 */
function refuseAmbiguousHost({ rawHeaders }: Pick<HttpExchange, "rawHeaders">): void {
  let host: string | undefined;
  let authority: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name === ":authority") authority = rawHeaders[at + 1]!;
    if (name.length !== hostLength || name.toLowerCase() !== "host") continue;
    if (host !== undefined) throw new StatusError("BadRequest", "the request has more than one Host header");
    host = rawHeaders[at + 1]!;
  }
  if (host === undefined || authority === undefined) return;
  if (host.toLowerCase() === authority.toLowerCase()) return;
  throw new StatusError("BadRequest", "the request's Host header and :authority differ");
}

const hostLength = "host".length;

const warningCache = new WeakMap<Resource, string>();

/** Returns the warning for a deprecated version (spec: conventions 9.2); empty for other versions. */
function deprecationOf(resource: Resource, { release, vocabulary }: Registry): string {
  let cached = warningCache.get(resource);
  if (cached === undefined) {
    const { group, version, name, custom } = resource.kind;
    const cycle = custom === undefined ? lifeCycleOf(group, version, name) : undefined;
    cached =
      cycle === undefined
        ? (custom?.deprecation ?? "")
        : (deprecationWarning(cycle, release, vocabulary) ?? "");
    warningCache.set(resource, cached);
  }
  return cached;
}

type Request = Pick<HttpExchange, "method" | "header" | "connection">;

/**
 * Rejects a request of a document behind `proxy` of a pod, service or node for anything but this proxy, and the script of a service worker
 * there: such a document has the server's address, but the backend chose its content (decision 26). A document may link to other
 * pages. Only browsers send these headers.
 *
 * @throws {StatusError} Forbidden
 */
function refuseProxiedPage(exchange: Pick<HttpExchange, "header">, facts: RequestFacts): void {
  const own = proxyOf(facts);
  if (own !== undefined && exchange.header("service-worker") !== undefined) {
    throw new StatusError("Forbidden", "pages behind proxy can't have service workers");
  }
  const referer = exchange.header("referer");
  if (referer === undefined || !URL.canParse(referer)) return;
  const page = proxyOfPath(new URL(referer).pathname);
  if (page === undefined || page === own) return;
  if (exchange.header("sec-fetch-dest") === "document" && exchange.header("sec-fetch-mode") === "navigate")
    return;
  throw new StatusError("Forbidden", `the page behind ${page} may send requests to its own path only`);
}

/** Returns the object and subresource of a request for `proxy`; undefined for other requests. */
function proxyOf(facts: RequestFacts): string | undefined {
  if (facts.kind !== "resource" || facts.subresource !== "proxy") return undefined;
  const { group, namespace, resource, name } = facts;
  return [group, namespace, resource, name, "proxy"].filter((part) => part !== "").join("/");
}

function proxyOfPath(path: string): string | undefined {
  try {
    return proxyOf(readFacts("GET", path));
  } catch (error) {
    // A path that isn't well encoded is no path of this server.
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}

/**
 * Rejects a write, or an upgraded connection, that a page of another site made in a browser. The browser may add the user's client
 * certificate to it, and a page can send a body without a content type without asking the server first.
 *
 * @throws {StatusError} Forbidden
 */
export function refuseForeignPage(exchange: Request, vocabulary: Vocabulary): void {
  const isRead = exchange.method === "GET" || exchange.method === "HEAD";
  // A WebSocket is opened with GET, and its client may read the answers.
  if (isRead && exchange.header("upgrade") === undefined) return;
  if (!isOfForeignPage(exchange) || hasOnlyToken(exchange, vocabulary)) return;
  throw new StatusError(
    "Forbidden",
    "this server accepts no writes and connections from pages of other sites",
  );
}

/** Whether the only credential of a WebSocket is a token, which the page itself has; the browser adds no other one. */
function hasOnlyToken(exchange: Request, vocabulary: Vocabulary): boolean {
  if (exchange.connection.certificate !== undefined) return false;
  if (exchange.header("upgrade")?.toLowerCase() !== "websocket") return false;
  const protocols = exchange.header("sec-websocket-protocol") ?? "";
  return offeredProtocols(protocols, vocabulary).tokens.length > 0;
}

function isOfForeignPage(exchange: Request): boolean {
  const site = exchange.header("sec-fetch-site");
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  // Chromium sends no Sec-Fetch-Site with a WebSocket, but Origin. Programs may send any Origin; the credentials of those that send
  // Authorization, which a page can't set there, don't come from a browser.
  const origin = exchange.header("origin");
  if (origin === undefined || exchange.header("authorization") !== undefined) return false;
  return !isOriginOf(origin, exchange.header("host") ?? exchange.header(":authority") ?? "");
}

/** Whether an origin has the host and port of a Host header. */
function isOriginOf(origin: string, host: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, host: expected } = new URL(origin);
  const url = `${protocol}//${host}`;
  return URL.canParse(url) && new URL(url).host === expected;
}
