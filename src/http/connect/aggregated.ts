import { identityHeaders, isForwardedIdentity } from "../../aggregation/identity.ts";
import type { RemoteApiService } from "../../aggregation/remote-api-service.ts";
import { StatusError } from "../../base/status-error.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Destination } from "../backends/rules.ts";
import { awaitOther } from "../limits/yield-seat.ts";
import type { RequestContext } from "../request/context.ts";
import { isLongRunning } from "../request/facts.ts";
import type { HttpService } from "../service.ts";
import { connectionLimits } from "../transport/connection-limits.ts";
import { forwardRequest } from "./forward.ts";

/** A connection to an extension server must stand by then. */
const connectTimeoutMs = 10_000;

const retryAfterSeconds = 1;

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/**
 * Passes a request on to the extension server that serves its group version, on behalf of its user, whom the headers of the
 * front proxy name. It was authenticated and authorized here; bodies go both ways as they come.
 *
 * @param path path and query for the extension server; as they were sent unless given.
 * @throws {StatusError} ServiceUnavailable while the extension server can't be reached, or is busy with as many requests as it
 * gets at a time; Timeout; BadGateway for a redirect.
 */
export async function serveAggregated(
  service: HttpService,
  request: RequestContext,
  remote: RemoteApiService,
  path = request.exchange.url,
): Promise<void> {
  const { exchange, facts, user } = request;
  if (!methods.has(exchange.method))
    throw new StatusError("MethodNotAllowed", "this method can't be forwarded");
  if (!remote.available) throw unavailable(remote, remote.availability?.message ?? "it was not reached yet");
  take(service, request, remote);
  const endless = isLongRunning(facts);
  const upgrades = exchange.upgrade !== undefined;
  if (facts.kind === "resource" && request.served && (endless || upgrades))
    service.metrics.longRunning(facts, exchange);
  const told = { headers: toldHeaders(remote, user), replaces: isForwardedIdentity };
  const { refusesRedirects } = service.aggregation;
  const work = async () => {
    const agent = isPlainRead(request, endless) ? remote.agent() : undefined;
    const destination = { ...(await destinationOf(remote, endless)), agent };
    await forwardRequest(service, request, { destination, path, told, refusesRedirects, endless });
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

function toldHeaders(remote: RemoteApiService, user: UserInfo): Record<string, string | readonly string[]> {
  return { ...identityHeaders(user), host: remote.authority };
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
