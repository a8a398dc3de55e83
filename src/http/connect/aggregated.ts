import { identityHeaders, isForwardedIdentity } from "../../aggregation/identity.ts";
import type { RemoteApiService } from "../../aggregation/remote-api-service.ts";
import { StatusError } from "../../base/status-error.ts";
import { encodePath } from "../../base/network/percent-encoding.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Destination } from "../backends/rules.ts";
import { awaitOther } from "../limits/fair-limiter.ts";
import type { RequestContext } from "../request/context.ts";
import { isLongRunning, type RequestFacts, hasSpecialSegment } from "../request/facts.ts";
import type { HttpService } from "../service.ts";
import { connectionLimits } from "../transport/connection-limits.ts";
import { forwardRequest } from "./forward.ts";
import { queryOf } from "./proxy.ts";

/** Time limit of connecting to an extension server. */
const connectTimeoutMs = 10_000;

const retryAfterSeconds = 1;

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/**
 * Forwards a request to the extension server of its group version, on behalf of the user, who is named in front-proxy
 * headers. The request was authenticated and authorized by this server; bodies are streamed both ways.
 *
 * @param document path of a document to request, without percent-encodings; by default the path and query of the
 *   request.
 * @throws {StatusError} BadRequest for a path that other servers may interpret differently; ServiceUnavailable if the
 *   extension server can't be reached or has the maximum number of requests; Timeout; BadGateway for a redirect.
 */
export async function serveAggregated(
  service: HttpService,
  request: RequestContext,
  remote: RemoteApiService,
  document?: string,
): Promise<void> {
  const { exchange, facts, user } = request;
  const path = document ?? facts.path;
  refuseUnclearPath(facts, path);
  if (!methods.has(exchange.method))
    throw new StatusError("MethodNotAllowed", "this method can't be forwarded");
  if (!remote.available) throw unavailable(remote, remote.availability?.message ?? "it was not reached yet");
  acquireSlot(service, request, remote);
  const endless = isLongRunning(facts);
  const upgrades = exchange.upgrade !== undefined;
  if (facts.kind === "resource" && request.served && (endless || upgrades))
    service.metrics.longRunning(facts, exchange);
  const uri = encodePath(path);
  const added = { headers: addedHeaders(service, remote, user, uri), replaces: isForwardedIdentity };
  const { refusesRedirects } = service.aggregation;
  const work = async () => {
    const agent = isPlainRead(request, endless) ? remote.agent() : undefined;
    const destination = { ...(await destinationOf(remote, endless)), agent };
    const url = `${uri}${document === undefined ? queryOf(exchange.url) : ""}`;
    await forwardRequest(service, request, { destination, path: url, added, refusesRedirects, endless });
  };
  await awaitOther(service, request, work());
}

/** Returns true if a request may use a pooled connection, and be repeated if that breaks. */
function isPlainRead({ exchange }: RequestContext, endless: boolean): boolean {
  return (
    exchange.method === "GET" && exchange.body === undefined && exchange.upgrade === undefined && !endless
  );
}

/**
 * Counts the request until it ends.
 *
 * @throws {StatusError} ServiceUnavailable above the maximum.
 */
function acquireSlot(
  { aggregation }: HttpService,
  { exchange }: RequestContext,
  remote: RemoteApiService,
): void {
  if (remote.open >= aggregation.maxRequests) {
    const message = `service unavailable: the API service ${remote.name}: ${remote.open} requests to it are under way already`;
    throw new StatusError("ServiceUnavailable", message, { retryAfterSeconds });
  }
  remote.open++;
  exchange.onClose(() => remote.open--);
}

/** Without Retry-After: kubectl, which reads all of discovery, would wait for its retries. */
function unavailable({ name }: RemoteApiService, message: string): StatusError {
  return new StatusError("ServiceUnavailable", `service unavailable: the API service ${name}: ${message}`);
}

/**
 * Rejects a path that some servers normalize: they could perform another action than the authorized one.
 *
 * @throws {StatusError} BadRequest
 */
function refuseUnclearPath(facts: RequestFacts, path: string): void {
  if (hasSpecialSegment(path)) {
    const what = "has a segment `.` or `..`, or a control character";
    throw new StatusError("BadRequest", `the path ${JSON.stringify(path)} ${what}`);
  }
  if (facts.kind === "path") return;
  const { resource, name, subresource, rest } = facts;
  if (resource === "" || (name === "" && subresource + rest !== "") || (subresource === "" && rest !== ""))
    throw new StatusError("BadRequest", `the path ${JSON.stringify(path)} has an empty segment`);
}

function addedHeaders(
  { engine }: HttpService,
  remote: RemoteApiService,
  user: UserInfo,
  uri: string,
): Record<string, string | readonly string[]> {
  const identity = identityHeaders(user, engine.featureEnabled("RemoteRequestHeaderUID"));
  return { ...identity, host: remote.authority, "x-forwarded-uri": uri };
}

async function destinationOf(remote: RemoteApiService, endless: boolean): Promise<Destination> {
  const { tls, certificate } = remote;
  const { host, port } = await addressOf(remote);
  return {
    scheme: "https",
    host,
    port,
    tls: { ...tls, ...certificate },
    timeoutMs: connectTimeoutMs,
    answerTimeoutMs: endless ? undefined : connectionLimits.requestTimeoutMs,
  };
}

async function addressOf(remote: RemoteApiService): ReturnType<RemoteApiService["address"]> {
  try {
    return await remote.address();
  } catch (error) {
    // A missing service or pod isn't a NotFound of the requested object.
    if (error instanceof StatusError) throw unavailable(remote, error.message);
    throw error;
  }
}
