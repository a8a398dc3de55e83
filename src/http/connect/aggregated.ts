import { identityHeaders, isForwardedIdentity } from "../../aggregation/identity.ts";
import type { RemoteApiService } from "../../aggregation/remote-api-service.ts";
import { StatusError } from "../../base/status-error.ts";
import { encodePath } from "../../base/percent-encoding.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Destination } from "../backends/rules.ts";
import { awaitOther } from "../limits/seat-release.ts";
import type { RequestContext } from "../request/context.ts";
import { isLongRunning, type RequestFacts } from "../request/facts.ts";
import { hasSpecialSegment } from "../request/path.ts";
import type { HttpService } from "../service.ts";
import { connectionLimits } from "../transport/connection-limits.ts";
import { forwardRequest } from "./forward.ts";
import { queryOf } from "./paths.ts";

/** A connection to an extension server must stand by then. */
const connectTimeoutMs = 10_000;

const retryAfterSeconds = 1;

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/**
 * Passes a request on to the extension server that serves its group version, on behalf of its user, whom the headers of the
 * front proxy name. It was authenticated and authorized here; bodies go both ways as they come.
 *
 * @param document path of a document to ask for, without percent-encodings; by default what the request asks for, with its query.
 * @throws {StatusError} BadRequest for a path that other servers may read otherwise than this one; ServiceUnavailable while the extension server can't be reached, or is busy with as many requests as it
 * gets at a time; Timeout; BadGateway for a redirect.
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
  take(service, request, remote);
  const endless = isLongRunning(facts);
  const upgrades = exchange.upgrade !== undefined;
  if (facts.kind === "resource" && request.served && (endless || upgrades))
    service.metrics.longRunning(facts, exchange);
  const uri = encodePath(path);
  const told = { headers: toldHeaders(remote, user, uri), replaces: isForwardedIdentity };
  const { refusesRedirects } = service.aggregation;
  const work = async () => {
    const agent = isPlainRead(request, endless) ? remote.agent() : undefined;
    const destination = { ...(await destinationOf(remote, endless)), agent };
    const url = `${uri}${document === undefined ? queryOf(exchange.url) : ""}`;
    await forwardRequest(service, request, { destination, path: url, told, refusesRedirects, endless });
  };
  await awaitOther(service, request, work());
}

/** Whether a request may be sent over a connection that stands, and again if that breaks. */
function isPlainRead({ exchange }: RequestContext, endless: boolean): boolean {
  return (
    exchange.method === "GET" && exchange.body === undefined && exchange.upgrade === undefined && !endless
  );
}

/** Counts the request until it is over. */
function take({ aggregation }: HttpService, { exchange }: RequestContext, remote: RemoteApiService): void {
  if (remote.open >= aggregation.maxRequests) {
    const message = `service unavailable: the API service ${remote.name}: ${remote.open} requests to it are under way already`;
    throw new StatusError("ServiceUnavailable", message, { retryAfterSeconds });
  }
  remote.open++;
  exchange.onClose(() => remote.open--);
}

/** Without the advice to try again soon: a command line client that reads all of discovery would wait for its retries. */
function unavailable({ name }: RemoteApiService, why: string): StatusError {
  return new StatusError("ServiceUnavailable", `service unavailable: the API service ${name}: ${why}`);
}

/**
 * Refuses a path that some servers resolve or merge: then they would do something else than authorization was asked about.
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

function toldHeaders(
  remote: RemoteApiService,
  user: UserInfo,
  uri: string,
): Record<string, string | readonly string[]> {
  return { ...identityHeaders(user), host: remote.authority, "x-forwarded-uri": uri };
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
    // That a service or pod isn't there is no failure to find what the client asked for.
    if (error instanceof StatusError) throw unavailable(remote, error.message);
    throw error;
  }
}
