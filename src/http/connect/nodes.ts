import { isIP } from "node:net";
import { StatusError } from "../../base/status-error.ts";
import type { Node } from "../../kinds/core/node/node.ts";
import { addressRefused, isRefused } from "../backends/addresses.ts";
import { invalidPlace, parsePlace, portNumber } from "../backends/names.ts";
import type { Objects } from "./objects.ts";
import { connectTimeoutMs, type ConnectionRules, type Destination } from "../backends/rules.ts";

/** Default port of the node agent. */
const agentPort = 10_250;

/**
 * Returns the destination of a node's agent.
 *
 * @throws {StatusError} NotFound; ServiceUnavailable for a node without a suitable address; BadRequest for a refused
 *   one. The addresses of a host name are checked when the connection is made.
 */
export async function agentDestination(
  objects: Objects,
  name: string,
  { targets, nodeAgents }: ConnectionRules,
): Promise<Destination> {
  const node = await objects.node(name);
  const host = preferredAddress(node, nodeAgents.addressTypes);
  if (isIP(host) !== 0 && isRefused(host, targets)) throw addressRefused(host);
  const agentPortOfNode = node.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
  const port = agentPortOfNode > 0 ? agentPortOfNode : agentPort;
  return { scheme: "https", host, port, tls: nodeAgents.tls, timeoutMs: nodeAgents.timeoutMs };
}

/** Returns the destination of a request for a node: its agent, or another port. */
export async function nodeDestination(
  objects: Objects,
  text: string,
  rules: ConnectionRules,
): Promise<Destination> {
  const { scheme, name, port } = parsePlace(text, "node");
  const agent = await agentDestination(objects, name, rules);
  const number = port === "" ? agent.port : portNumber(port);
  if (number === undefined) throw invalidPlace(text, "node");
  if (number === agent.port) return agent;
  return { scheme, host: agent.host, port: number, tls: {}, timeoutMs: connectTimeoutMs };
}

/** Returns the address of the most preferred type. */
function preferredAddress({ metadata, status }: Node, types: readonly string[]): string {
  const addresses = status?.addresses ?? [];
  for (const type of types) {
    const match = addresses.find((one) => one.type === type && (one.address ?? "") !== "");
    if (match !== undefined) return match.address;
  }
  const addressTexts = addresses.map(({ type, address }) => `${type}=${address}`).join(" ");
  throw new StatusError(
    "ServiceUnavailable",
    `no preferred addresses found for node ${JSON.stringify(metadata.name)}; known addresses: [${addressTexts}]`,
  );
}
