import { StatusError } from "../../base/status-error.ts";
import { FieldReport, invalidError } from "../../schema/faults.ts";
import { integerParameter } from "../request/parameters.ts";
import { isTrue, type Query } from "../request/facts.ts";

/** Options of a pod's log (`PodLogOptions`). */
export interface LogOptions {
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
export function logOptions(query: Query, pod: string): LogOptions {
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
export function streamQuery(query: Query, subresource: "attach" | "exec"): string {
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
export function portForwardQuery(query: Query): string {
  const ports = query.all("ports").flatMap((text) => text.split(","));
  for (const port of ports) {
    if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
      throw new StatusError("BadRequest", `parameter ports: ${JSON.stringify(port)} is not a port number`);
    }
  }
  return ports.length === 0 ? "" : new URLSearchParams({ port: ports.map(Number).join(",") }).toString();
}
