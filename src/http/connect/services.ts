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

/** One address and port at which a service may be served. */
interface Candidate {
  readonly address: string;
  readonly port: number;
  /** Name of the pod that is said to have the address; undefined when no pod of the namespace is. */
  readonly pod: string | undefined;
}

/**
 * Where a request for a service goes: to one of its ready endpoints, taken by chance. As in the reference, an address
 * counts only when it is that of a pod of the namespace: whoever may write endpoints can't point the server anywhere.
 *
 * @param below gives a random integer from 0 up to, not including, its argument.
 * @throws {StatusError} ServiceUnavailable when no endpoint can be used; NotFound.
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

/** The name of the service's port; what isn't the number of one is taken for a name. */
function portNameOf({ metadata, spec }: Service, port: string): string {
  const number = portNumber(port);
  if (number === undefined) return port;
  const found = spec?.ports?.find((one) => one.port === number);
  if (found !== undefined) return found.name ?? "";
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
        // All addresses of an endpoint stand for the same backend.
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
