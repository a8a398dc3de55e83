import { StatusError } from "../../base/status-error.ts";
import type { Endpoints } from "../../kinds/core/endpoints.ts";
import type { ObjectReference } from "../../kinds/core/references.ts";
import type { Service } from "../../kinds/core/service/service.ts";
import type { EndpointSlice } from "../../kinds/discovery/endpoint-slice.ts";
import type { Static } from "../../schema/types.ts";
import { addressRefused, isRefused } from "../backends/addresses.ts";
import { parsePlace, portNumber } from "../backends/names.ts";
import type { Objects } from "./objects.ts";
import { addressesOf } from "./pods.ts";
import { connectTimeoutMs, type ConnectionRules, type Destination } from "../backends/rules.ts";

/** An address and port of a service's endpoints. */
interface Candidate {
  readonly address: string;
  readonly port: number;
  /** Name of the pod with this address; undefined if the endpoint names no pod of the namespace. */
  readonly pod: string | undefined;
}

/**
 * Returns the destination of a request for a service: one of its ready endpoints, chosen at random. As in the
 * reference, an address must belong to a pod of the namespace, so that users who can write endpoints can't choose the
 * server's targets.
 *
 * @param below returns a random integer from 0 to its argument, exclusive.
 * @throws {StatusError} ServiceUnavailable if no endpoint is usable; NotFound.
 */
export async function serviceDestination(
  objects: Objects,
  text: string,
  { targets }: ConnectionRules,
  below: (limit: number) => number,
): Promise<Destination> {
  const { scheme, name, port } = parsePlace(text, "service");
  const service = await objects.service(name);
  if (service.spec?.type === "ExternalName") throw noEndpoints(name, "it only stands for another name");
  const portName = portNameOf(service, port);
  const endpoints = await objects.endpoints(name);
  const candidates =
    endpoints === undefined
      ? fromSlices(await objects.slices(name), portName)
      : fromEndpoints(endpoints, portName);
  const start = candidates.length === 0 ? 0 : below(candidates.length);
  for (let tried = 0; tried < candidates.length; tried++) {
    const candidate = candidates[(start + tried) % candidates.length]!;
    if (!(await isPodAddress(objects, candidate))) continue;
    const { address: host } = candidate;
    if (isRefused(host, targets)) throw addressRefused(host);
    return { scheme, host, port: candidate.port, tls: {}, timeoutMs: connectTimeoutMs };
  }
  throw noEndpoints(name, candidates.length === 0 ? "" : "none of its addresses is that of the pod it names");
}

/** Returns the name of the service's port; a text that isn't the number of one is a name. */
function portNameOf({ metadata, spec }: Service, port: string): string {
  const number = portNumber(port);
  if (number === undefined) return port;
  const match = spec?.ports?.find((one) => one.port === number);
  if (match !== undefined) return match.name ?? "";
  throw new StatusError(
    "ServiceUnavailable",
    `no service port ${number} found for service ${JSON.stringify(metadata.name)}`,
  );
}

function fromEndpoints({ metadata, subsets = [] }: Endpoints, portName: string): Candidate[] {
  return subsets.flatMap(({ addresses = [], ports = [] }) => {
    const port = ports.find(({ name = "" }) => name === portName)?.port;
    if (port === undefined) return [];
    return addresses.map(({ ip = "", targetRef }) => ({
      address: ip,
      port,
      pod: podOf(targetRef, metadata.namespace),
    }));
  });
}

function fromSlices(slices: readonly EndpointSlice[], portName: string): Candidate[] {
  return slices.flatMap(({ metadata, addressType, endpoints = [], ports = [] }) => {
    const port = ports.find(({ name }) => (name ?? "") === portName)?.port ?? undefined;
    if (port === undefined || addressType === "FQDN") return [];
    return endpoints
      .filter(({ conditions }) => conditions?.ready !== false)
      .flatMap(({ addresses = [], targetRef }) =>
        // All addresses of an endpoint belong to the same backend.
        addresses
          .slice(0, 1)
          .map((address) => ({ address, port, pod: podOf(targetRef, metadata.namespace) })),
      );
  });
}

function podOf(
  reference: Static<typeof ObjectReference> | null | undefined,
  namespace: string | undefined,
): string | undefined {
  if (reference?.kind !== "Pod") return undefined;
  return reference.namespace === namespace ? reference.name : undefined;
}

async function isPodAddress(objects: Objects, { pod: name, address }: Candidate): Promise<boolean> {
  if (name === undefined) return false;
  const pod = await objects.findPod(name);
  return pod !== undefined && addressesOf(pod).includes(address);
}

function noEndpoints(name: string, why: string): StatusError {
  const message = `no endpoints available for service ${JSON.stringify(name)}`;
  return new StatusError("ServiceUnavailable", why === "" ? message : `${message}: ${why}`);
}
