import type { OutgoingHttpHeaders } from "node:http";
import { detach } from "../../base/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import type { BodyStream } from "../transport/body-stream.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";
import type { HeaderLines } from "../transport/header-lines.ts";
import type { HttpService } from "../service.ts";
import type { RequestContext } from "../request/context.ts";
import { Backend, type BackendAnswer } from "../backends/backend.ts";
import { answerHeaders, requestHeaders } from "../backends/headers.ts";
import { relayAnswer } from "./relay.ts";
import type { Destination } from "../backends/rules.ts";
import { relayBytes } from "./upgraded.ts";

/** Where and how a request is forwarded. */
export interface Forward {
  readonly destination: Destination;
  /** Path and query for the backend. */
  readonly path: string;
  /** Puts the header lines of a plain answer right. */
  readonly mend?: (lines: string[]) => HeaderLines;
  /** What the backend is told in the client's stead: it replaces headers of the same names. */
  readonly told?: ToldHeaders | undefined;
  /** Whether a redirect is refused, also of a request that doesn't upgrade. */
  readonly refusesRedirects?: boolean;
  /** Whether the answer has no end of its own for which a stop of the server could wait, as a watch. */
  readonly endless?: boolean;
}

/** Headers of a request by which the server itself speaks to a backend. */
export interface ToldHeaders {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Whether the client's header of this name (in lower case) would say the same, and is left out. */
  readonly replaces: (name: string) => boolean;
}

/**
 * Forwards a request with its body, and sends the answer back. Resolves when the answer has begun; what comes after goes on by
 * itself, until either side ends. An offer to upgrade is forwarded too: when the backend takes it, both go on in bytes.
 *
 * @throws {StatusError} what hinders the request, as long as nothing is answered.
 */
export async function forwardRequest(
  service: HttpService,
  request: RequestContext,
  forward: Forward,
): Promise<void> {
  const { exchange } = request;
  const { destination, path, mend = (lines) => lines, refusesRedirects = false, endless = false } = forward;
  const { upgrade } = exchange;
  const question = { method: exchange.method, path, headers: headersOf(service, request, forward) };
  let backend = new Backend(destination, question, service, exchange);
  let upgraded = false;
  let left = false;
  exchange.onClose(() => {
    left = true;
    if (!upgraded) backend.destroy();
  });
  backend.send(exchange.body);
  const came = await backend.answer.catch((error: unknown) => {
    const mayBeStale =
      backend.reused && error instanceof StatusError && error.reason === "ServiceUnavailable";
    if (!mayBeStale || left) throw error;
    const { agent: _stands, ...afresh } = destination;
    backend = new Backend(afresh, question, service, exchange);
    backend.send(undefined);
    return backend.answer;
  });
  if (upgrade !== undefined || refusesRedirects) refuseRedirect(came, backend);
  if (came.kind === "answer") {
    const status = statusOf(came, backend);
    const stream = relayAnswer(exchange, came.answer, status, mend(answerHeaders(came.answer)));
    if (endless) endWithServer(service, exchange, stream, backend);
    return;
  }
  upgraded = true;
  const { answer, socket, head } = came;
  if (head.length > 0) socket.unshift(head);
  const protocol = answer.headers.upgrade ?? upgrade!.protocol;
  const lines = ["Connection", "Upgrade", "Upgrade", protocol, ...answerHeaders(answer)];
  relayBytes(service, upgrade!.accept(lines), socket);
}

function headersOf(
  service: HttpService,
  { exchange }: RequestContext,
  { told }: Forward,
): OutgoingHttpHeaders {
  const { isIdentityHeader } = service.connections;
  const isReplaced = (name: string) => isIdentityHeader(name) || told?.replaces(name) === true;
  const plain = requestHeaders(exchange, service.engine.vocabulary, isReplaced);
  const { upgrade } = exchange;
  const upgrading = upgrade === undefined ? {} : { connection: "Upgrade", upgrade: upgrade.protocol };
  return { ...plain, ...upgrading, ...(told?.headers as OutgoingHttpHeaders | undefined) };
}

/** Ends an answer that goes on when the server stops. */
export function endWithServer(
  { streams }: HttpService,
  exchange: HttpExchange,
  stream: BodyStream,
  backend: Backend,
): void {
  const open = {
    close: () => {
      detach(stream.end(), () => stream.destroy());
      backend.destroy();
    },
  };
  streams.add(open);
  exchange.onClose(() => streams.delete(open));
}

/**
 * A redirect that would take the client to where the backend says isn't forwarded: neither that of a request to upgrade, whose
 * session and input would go there, nor any of an extension server.
 */
function refuseRedirect({ answer }: BackendAnswer, backend: Backend): void {
  const status = answer.statusCode ?? 0;
  if (status < 300 || status > 399 || (answer.headers.location === undefined && status !== 300)) return;
  backend.destroy();
  const message = "the backend attempted to redirect this request, which is not permitted";
  throw new StatusError("BadGateway", message);
}

/** The status of an answer; one that no client would understand isn't forwarded. */
function statusOf({ answer }: BackendAnswer, backend: Backend): number {
  const status = answer.statusCode ?? 0;
  if (status >= 200 && status <= 599) return status;
  backend.destroy();
  throw new StatusError("ServiceUnavailable", `the backend answered with the status ${status}`);
}
