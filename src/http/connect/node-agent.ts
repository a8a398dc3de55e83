import type { IncomingMessage } from "node:http";
import { StatusError } from "../../base/status-error.ts";
import type { Pod } from "../../kinds/core/pod/pod.ts";
import { headersFor } from "../answers/respond.ts";
import type { HttpService } from "../service.ts";
import type { ResourceContext } from "../request/context.ts";
import { Backend } from "../backends/backend.ts";
import { containerOf } from "./containers.ts";
import { confineAnswer } from "../backends/confined-answer.ts";
import { connectionPath } from "./paths.ts";
import { endWithServer, forwardRequest } from "./forward.ts";
import { agentDestination } from "./nodes.ts";
import { Objects } from "./objects.ts";
import { logOptions, portForwardQuery, streamQuery } from "./options.ts";
import { relayAnswer } from "./relay.ts";
import { hostAndPort } from "../backends/rules.ts";

/** Maximum number of bytes of a node agent's error text that are sent to the client. */
const maxErrorTextBytes = 50_000;

/** Serves `exec`, `attach` and `portforward` of a pod with a connection to the agent of the pod's node. */
export async function serveStream(
  service: HttpService,
  request: ResourceContext,
  subresource: "attach" | "exec" | "portforward",
): Promise<void> {
  const { exchange, facts, target, user } = request;
  const { engine, connections } = service;
  const objects = new Objects(engine, target.namespace, user);
  const forward = subresource === "portforward";
  const query = forward ? portForwardQuery(facts.query) : streamQuery(facts.query, subresource);
  const pod = await objects.pod(facts.name);
  const container = forward ? [] : [containerOf(pod, facts.query.get("container") ?? "", engine.vocabulary)];
  const node = pod.spec?.nodeName ?? "";
  if (node === "") throw new StatusError("BadRequest", `pod ${facts.name} does not have a host assigned`);
  const destination = await agentDestination(objects, node, connections);
  if (exchange.upgrade === undefined) throw new StatusError("BadRequest", "Upgrade request required");
  const path = agentPath(forward ? "portForward" : subresource, pod, container, query);
  const { before } = connectionPath(facts);
  await forwardRequest(service, request, {
    destination,
    path,
    rewriteHeaders: (lines) => confineAnswer(lines, before),
  });
}

/** Serves `log` of a pod by streaming the node agent's text; empty if the pod has no node. */
export async function serveLog(service: HttpService, request: ResourceContext): Promise<void> {
  const { exchange, facts, target, user } = request;
  const { engine, connections } = service;
  const objects = new Objects(engine, target.namespace, user);
  const options = logOptions(facts.query, facts.name);
  const pod = await objects.pod(facts.name);
  const container = containerOf(pod, options.container, engine.vocabulary);
  const node = pod.spec?.nodeName ?? "";
  if (node === "") return exchange.send(204, [], new Uint8Array());
  if (exchange.method === "HEAD") {
    exchange.send(200, headersFor("text/plain"), new Uint8Array());
    return;
  }
  const agent = await agentDestination(objects, node, connections);
  const { ca, ...unverified } = agent.tls;
  const tls = options.insecureSkipTLSVerifyBackend ? unverified : { ca, ...unverified };
  const outgoing = {
    method: "GET",
    path: agentPath("containerLogs", pod, [container], options.query),
    headers: { host: hostAndPort(agent) },
  };
  const backend = new Backend({ ...agent, tls }, outgoing, service, exchange);
  exchange.onClose(() => backend.destroy());
  backend.send(undefined);
  const received = await backend.answer;
  const { answer } = received;
  const status = answer.statusCode ?? 0;
  if (status < 200 || status > 206) {
    const text = await readErrorText(answer);
    backend.destroy();
    throw agentFailure(status, text, facts.name);
  }
  const stream = relayAnswer(exchange, answer, 200, headersFor("text/plain"));
  if (!options.follow) return;
  // A followed log is endless, so a stopping server doesn't wait for it.
  endWithServer(service, exchange, stream, backend);
}

function agentPath(what: string, { metadata }: Pod, container: readonly string[], query: string): string {
  const segments = [what, metadata.namespace!, metadata.name!, ...container].map(encodeURIComponent);
  return `/${segments.join("/")}${query === "" ? "" : `?${query}`}`;
}

/** Returns the start of an error text. */
async function readErrorText(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= maxErrorTextBytes) break;
    }
  } catch (error) {
    // The received part of the text is sent.
    chunks.push(Buffer.from(` (broken off: ${String(error)})`));
  }
  return Buffer.concat(chunks).subarray(0, maxErrorTextBytes).toString("utf8").trim();
}

/** Converts a node agent's error for the client. */
function agentFailure(status: number, text: string, pod: string): StatusError {
  if (status === 400) return new StatusError("BadRequest", text);
  const details = { name: pod, kind: "pods/log" };
  if (status === 404) {
    const message = `the server could not find the requested resource ( pods/log ${pod})`;
    return new StatusError("NotFound", text === "" ? message : `${message}: ${text}`, details);
  }
  const message = `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`;
  const why = `the node agent answered with the status ${status}`;
  return new StatusError("InternalError", `${message} (get pods/log ${pod}): ${why}`, details);
}
