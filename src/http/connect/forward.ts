import { StatusError } from "../../base/status-error.ts";
import type { HeaderLines } from "../transport/header-lines.ts";
import type { HttpService } from "../service.ts";
import type { ResourceContext } from "../request/context.ts";
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
}

/**
 * Forwards a request with its body, and sends the answer back. Resolves when the answer has begun; what comes after goes on by
 * itself, until either side ends. An offer to upgrade is forwarded too: when the backend takes it, both go on in bytes.
 *
 * @throws {StatusError} what hinders the request, as long as nothing is answered.
 */
export async function forwardRequest(
  service: HttpService,
  { exchange, facts }: ResourceContext,
  { destination, path, mend = (lines) => lines }: Forward,
): Promise<void> {
  const { upgrade } = exchange;
  const { isIdentityHeader } = service.connections;
  const plain = requestHeaders(exchange, facts.path, service.engine.vocabulary, isIdentityHeader);
  const headers =
    upgrade === undefined ? plain : { ...plain, connection: "Upgrade", upgrade: upgrade.protocol };
  const question = { method: exchange.method, path, headers };
  const backend = new Backend(destination, question, service, exchange);
  let upgraded = false;
  exchange.onClose(() => {
    if (!upgraded) backend.destroy();
  });
  backend.send(exchange.body);
  const came = await backend.answer;
  if (upgrade !== undefined) refuseRedirect(came, backend);
  if (came.kind === "answer") {
    relayAnswer(exchange, came.answer, statusOf(came, backend), mend(answerHeaders(came.answer)));
    return;
  }
  upgraded = true;
  const { answer, socket, head } = came;
  if (head.length > 0) socket.unshift(head);
  const protocol = answer.headers.upgrade ?? upgrade!.protocol;
  const lines = ["Connection", "Upgrade", "Upgrade", protocol, ...answerHeaders(answer)];
  relayBytes(service, upgrade!.accept(lines), socket);
}

/**
 * A redirect of a request to upgrade isn't forwarded: the client would take its session, and its input, to where the backend
 * says.
 */
function refuseRedirect({ answer }: BackendAnswer, backend: Backend): void {
  const status = answer.statusCode ?? 0;
  if (status < 300 || status > 399) return;
  backend.destroy();
  const message = "the backend redirects the request to upgrade the connection, which is not permitted";
  throw new StatusError("BadGateway", message);
}

/** The status of an answer; one that no client would understand isn't forwarded. */
function statusOf({ answer }: BackendAnswer, backend: Backend): number {
  const status = answer.statusCode ?? 0;
  if (status >= 200 && status <= 599) return status;
  backend.destroy();
  throw new StatusError("ServiceUnavailable", `the backend answered with the status ${status}`);
}
