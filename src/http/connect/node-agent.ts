import type { IncomingMessage } from "node:http";
import { StatusError } from "../../base/status-error.ts";
import type { Pod } from "../../kinds/core/pod/pod.ts";
import { headersFor } from "../answers/respond.ts";
import type { HttpService } from "../service.ts";
import type { ResourceContext } from "../request/context.ts";
import { Backend } from "../backends/backend.ts";
import { confineAnswer } from "../backends/confined-answer.ts";
import { connectionPath } from "./proxy.ts";
import { endWithServer, forwardRequest, relayAnswer } from "./forward.ts";
import { agentDestination } from "./nodes.ts";
import { Objects } from "./objects.ts";
import { hostAndPort } from "../backends/rules.ts";
import { labelKey } from "../../vocabulary/names.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { FieldReport, invalidError } from "../../schema/faults.ts";
import { integerParameter } from "../request/parameters.ts";
import { isTrue, type Query } from "../request/facts.ts";

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

/**
 * Returns the selected container of a pod: the requested one, else the only one, else that of the pod's annotation.
 *
 * @param requested name; empty for none.
 * @throws {StatusError} BadRequest if there is no such container, or several without a selection.
 */
function containerOf({ metadata, spec }: Pod, requested: string, { domain }: Vocabulary): string {
  const pod = metadata.name!;
  const containers = spec?.containers ?? [];
  const names = [spec?.initContainers ?? [], containers, spec?.ephemeralContainers ?? []]
    .flat()
    .map(({ name }) => name);
  if (requested !== "") {
    if (names.includes(requested)) return requested;
    throw new StatusError("BadRequest", `container ${requested} is not valid for pod ${pod}`);
  }
  if (containers.length === 1) return containers[0]!.name;
  const annotated = metadata.annotations?.[labelKey(domain, "default-container", "kubectl")];
  if (annotated !== undefined && names.includes(annotated)) return annotated;
  const choice = names.length === 0 ? "" : `, choose one of: [${names.join(" ")}]`;
  throw new StatusError("BadRequest", `a container name must be specified for pod ${pod}${choice}`);
}

/** Options of a pod's log (`PodLogOptions`). */
interface LogOptions {
  /** Empty if no container is requested. */
  readonly container: string;
  readonly follow: boolean;
  readonly insecureSkipTLSVerifyBackend: boolean;
  /** Query for the node agent. */
  readonly query: string;
}

/**
 * Parses the options of a log.
 *
 * @throws {StatusError} BadRequest for a value of the wrong type; Invalid for one that violates a rule.
 */
function logOptions(query: Query, pod: string): LogOptions {
  const integers = logIntegers.map((name) => [name, integerParameter(query, name)] as const);
  const sinceTime = timeParameter(query, "sinceTime");
  checkLog(Object.fromEntries(integers), sinceTime, pod);
  const agentQuery = new URLSearchParams();
  for (const name of logFlags) if (isTrue(query.get(name))) agentQuery.set(name, "true");
  for (const [name, value] of integers) if (value !== undefined) agentQuery.set(name, String(value));
  if (sinceTime !== undefined) agentQuery.set("sinceTime", sinceTime);
  agentQuery.sort();
  return {
    container: query.get("container") ?? "",
    follow: isTrue(query.get("follow")),
    insecureSkipTLSVerifyBackend: isTrue(query.get("insecureSkipTLSVerifyBackend")),
    query: agentQuery.toString(),
  };
}

const logIntegers = ["limitBytes", "sinceSeconds", "tailLines"] as const;
const logFlags = ["follow", "previous", "timestamps"] as const;

function checkLog(
  { limitBytes, sinceSeconds, tailLines }: Record<string, number | undefined>,
  sinceTime: string | undefined,
  pod: string,
): void {
  const report = FieldReport.start();
  if (tailLines !== undefined && tailLines < 0)
    report.at("tailLines").invalid(tailLines, "must be greater than or equal to 0");
  if (limitBytes !== undefined && limitBytes < 1)
    report.at("limitBytes").invalid(limitBytes, "must be greater than 0");
  if (sinceSeconds !== undefined && sinceTime !== undefined)
    report.forbidden("at most one of `sinceTime` or `sinceSeconds` may be specified");
  else if (sinceSeconds !== undefined && sinceSeconds < 1)
    report.at("sinceSeconds").invalid(sinceSeconds, "must be greater than 0");
  if (report.faults.length > 0)
    throw invalidError({ kind: "PodLogOptions", group: "", name: pod }, report.faults);
}

/** Parses a time in RFC 3339, with a precision of seconds. */
function timeParameter(query: Query, name: string): string | undefined {
  const text = query.get(name) ?? "";
  if (text === "") return undefined;
  const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
  if (!form.test(text) || Number.isNaN(Date.parse(text))) {
    const message = `parameter ${name}: ${JSON.stringify(text)} is not a time such as 2006-01-02T15:04:05Z`;
    throw new StatusError("BadRequest", message);
  }
  return `${new Date(text).toISOString().slice(0, 19)}Z`;
}

/** Returns the node agent's query for running a command (`PodExecOptions`) or attaching to a process (`PodAttachOptions`). */
function streamQuery(query: Query, subresource: "attach" | "exec"): string {
  const agentQuery = new URLSearchParams();
  if (subresource === "exec") for (const word of query.all("command")) agentQuery.append("command", word);
  for (const [option, name] of streamFlags) if (isTrue(query.get(option))) agentQuery.set(name, "1");
  agentQuery.sort();
  return agentQuery.toString();
}

/** Names of the options, and their names for the node agent. */
const streamFlags = [
  ["stderr", "error"],
  ["stdin", "input"],
  ["stdout", "output"],
  ["tty", "tty"],
] as const;

/**
 * Returns the node agent's query for forwarding ports (`PodPortForwardOptions`).
 *
 * @throws {StatusError} BadRequest for an invalid port.
 */
function portForwardQuery(query: Query): string {
  const ports = query.all("ports").flatMap((text) => text.split(","));
  for (const port of ports) {
    if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
      throw new StatusError("BadRequest", `parameter ports: ${JSON.stringify(port)} is not a port number`);
    }
  }
  return ports.length === 0 ? "" : new URLSearchParams({ port: ports.map(Number).join(",") }).toString();
}
