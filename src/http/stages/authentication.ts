import type { AuthenticationResult } from "../../authentication/authenticator.ts";
import { webSocketAuthorization } from "../../authentication/websocket-token.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { RequestContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";

/**
 * Authenticates the caller. The result is reused for the same header on the same connection.
 *
 * @throws {StatusError} Unauthorized
 */
export function authenticate(service: HttpService, request: RequestContext): MaybePromise<void> {
  const { exchange } = request;
  const authorization = exchange.header("authorization") ?? webSocketToken(service, exchange);
  const { identity } = exchange.connection;
  if (identity !== undefined && identity.authorization === authorization) {
    service.callers.again(identity.requests);
    recognize(request, identity.user);
    return undefined;
  }
  return askMethods(service, request, authorization);
}

/** Sets the caller, who is also the user until impersonation. */
function recognize(request: RequestContext, caller: UserInfo): void {
  request.caller = caller;
  request.user = caller;
}

/** The credentials of a WebSocket client, which can't set headers (browsers). */
function webSocketToken({ engine, callers }: HttpService, exchange: HttpExchange): string | undefined {
  if (exchange.header("upgrade")?.toLowerCase() !== "websocket") return undefined;
  try {
    return webSocketAuthorization(exchange.header("sec-websocket-protocol") ?? "", engine.vocabulary);
  } catch (error) {
    callers.refused(error, callers.begin());
    throw error;
  }
}

function askMethods(
  { authenticator, callers }: HttpService,
  request: RequestContext,
  authorization: string | undefined,
): MaybePromise<void> {
  const { connection, rawHeaders } = request.exchange;
  const { path } = request.facts;
  const { certificate, certificateChain, certificateError, remoteAddress } = connection;
  const startMs = callers.begin();
  const answered = (result: AuthenticationResult | undefined): void => {
    if (result === undefined) throw new StatusError("Unauthorized", "Unauthorized");
    const { user, cacheable } = result;
    const requests = callers.recognized(user.name, startMs);
    if (cacheable) connection.identity = { authorization, user, requests };
    recognize(request, user);
  };
  const failed = (error: unknown): never => {
    callers.refused(error, startMs);
    throw error;
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
