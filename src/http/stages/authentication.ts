import type { AuthenticationResult } from "../../authentication/authenticator.ts";
import { isRefusal, reasonOf, refusalWithoutReason } from "../../authentication/refusal.ts";
import { webSocketAuthorization } from "../../authentication/websocket-token.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { UserInfo } from "../../base/user-info.ts";
import { unknownUser, type RequestContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";

/**
 * Authenticates the caller. The result is reused for the same header on the same connection. The reason why credentials are rejected is
 * logged and audited; the response doesn't have it, as in the reference.
 *
 * @throws {StatusError} Unauthorized
 */
export function authenticate(service: HttpService, request: RequestContext): MaybePromise<void> {
  // The server has authenticated the users of its workspaces that the workspace doesn't know.
  if (request.caller !== unknownUser) return undefined;
  const { exchange } = request;
  const authorization = authorizationOf(service, request);
  const { identity } = exchange.connection;
  if (identity !== undefined && identity.authorization === authorization) {
    service.callers.again(identity.requests);
    recognize(request, identity.user);
    return undefined;
  }
  return askMethods(service, request, authorization);
}

/** Returns the `Authorization` header of a request, or what a WebSocket client sends in its place. */
export function authorizationOf(service: HttpService, request: RequestContext): string | undefined {
  return request.exchange.header("authorization") ?? webSocketToken(service, request);
}

/** Sets the caller, who is also the user until impersonation. */
function recognize(request: RequestContext, caller: UserInfo): void {
  request.caller = caller;
  request.user = caller;
}

/** The credentials of a WebSocket client, which can't set headers (browsers). */
function webSocketToken(service: HttpService, request: RequestContext): string | undefined {
  const { exchange } = request;
  if (exchange.header("upgrade")?.toLowerCase() !== "websocket") return undefined;
  try {
    return webSocketAuthorization(exchange.header("sec-websocket-protocol") ?? "", service.engine.vocabulary);
  } catch (error) {
    throw rejected(service, request, error, service.callers.begin());
  }
}

/**
 * Lets a client without valid credentials use an HTTP/2 connection for its present requests only, because one connection can carry many
 * requests at little cost for the client.
 */
function endUnauthenticated({ engine }: HttpService, { exchange }: RequestContext): void {
  if (exchange.endConnection === undefined) return;
  if (engine.featureEnabled("UnauthenticatedHTTP2DOSMitigation")) exchange.endConnection();
}

/** Counts a failed attempt, logs and audits its reason, and returns the error for the client. */
function rejected(service: HttpService, request: RequestContext, error: unknown, startMs: number): unknown {
  const { callers, log } = service;
  callers.refused(error, startMs);
  if (!isRefusal(error)) return error;
  endUnauthenticated(service, request);
  const reason = reasonOf(error);
  if (reason !== "") {
    log.unauthenticated(request, reason);
    request.audit?.unauthenticated(error);
  }
  return refusalWithoutReason();
}

function askMethods(
  service: HttpService,
  request: RequestContext,
  authorization: string | undefined,
): MaybePromise<void> {
  const { authenticator, callers } = service;
  const { connection, rawHeaders } = request.exchange;
  const { path } = request.facts;
  const { certificate, certificateChain, certificateError, remoteAddress } = connection;
  const startMs = callers.begin();
  const answered = (result: AuthenticationResult | undefined): void => {
    if (result === undefined) {
      endUnauthenticated(service, request);
      throw refusalWithoutReason();
    }
    const { user, cacheable } = result;
    if (user.name === `${service.engine.vocabulary.systemPrefix}anonymous`)
      endUnauthenticated(service, request);
    const requests = callers.recognized(user.name, startMs);
    if (cacheable) connection.identity = { authorization, user, requests };
    recognize(request, user);
  };
  const failed = (error: unknown): never => {
    throw rejected(service, request, error, startMs);
  };
  try {
    const credentials = {
      authorization,
      certificate,
      certificateChain,
      certificateError,
      path,
      remoteAddress,
      connection,
      rawHeaders,
    };
    const answer = authenticator.authenticate(credentials);
    return answer instanceof Promise ? answer.then(answered).catch(failed) : answered(answer);
  } catch (error) {
    return failed(error);
  }
}
