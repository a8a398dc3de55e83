import type { Pod } from "../../kinds/core/pod/pod.ts";
import { addressRefused, isRefused } from "../backends/addresses.ts";
import { invalidPlace, parsePlace, portNumber } from "../backends/names.ts";
import type { Objects } from "./objects.ts";
import { connectTimeoutMs, type ConnectionRules, type Destination } from "../backends/rules.ts";

/**
 * Returns the destination of a request for a pod: its first address, and the requested port or the first one of its
 * containers.
 *
 * @throws {StatusError} BadRequest for an invalid port, and for a pod without an allowed address; NotFound.
 */
export async function podDestination(
  objects: Objects,
  text: string,
  { targets }: ConnectionRules,
): Promise<Destination> {
  const { scheme, name, port } = parsePlace(text, "pod");
  const pod = await objects.pod(name);
  const number = port === "" ? (firstPort(pod) ?? (scheme === "https" ? 443 : 80)) : portNumber(port);
  if (number === undefined) throw invalidPlace(text, "pod");
  const host = addressesOf(pod)[0] ?? "";
  if (isRefused(host, targets)) throw addressRefused(host);
  return { scheme, host, port: number, tls: {}, timeoutMs: connectTimeoutMs };
}

/** Returns the addresses of a pod, the main one first. */
export function addressesOf({ status }: Pod): string[] {
  const several = (status?.podIPs ?? []).flatMap(({ ip }) => (ip === undefined || ip === "" ? [] : [ip]));
  if (several.length > 0) return several;
  const one = status?.podIP ?? "";
  return one === "" ? [] : [one];
}

function firstPort({ spec }: Pod): number | undefined {
  return spec?.containers?.find(({ ports = [] }) => ports.length > 0)?.ports?.[0]?.containerPort;
}
