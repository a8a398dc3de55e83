import { StatusError } from "../base/status-error.ts";
import type { Endpoints } from "../kinds/core/endpoints.ts";
import type { Service } from "../kinds/core/service/service.ts";
import { RemoteFault, type RemoteAnswer } from "../remote/answer-reader.ts";
import { StoreError } from "../storage/store.ts";
import type { ForwardedIdentity } from "./identity.ts";
import { readPublishedResources } from "./published-resources.ts";
import type { Availability, RemoteApiService } from "./remote-api-service.ts";

/** Reads a Service and its Endpoints; both methods throw the store's errors. */
export interface ServiceObjects {
  service(namespace: string, name: string): Promise<Service | undefined>;
  endpoints(namespace: string, name: string): Promise<Endpoints | undefined>;
}

/** Timeout of the discovery request, as in the reference. */
const discoveryTimeoutMs = 5000;
/** Maximum attempts within that time: one of several endpoints may be down. */
const attempts = 5;

/**
 * Checks whether an extension server is available, in the order and with the reasons of the reference: its Service, the
 * Service's port, Endpoints with that port, and a discovery request. Publishes the resources of the discovery document.
 *
 * @param identity headers of the user that the server authenticates as.
 */
export async function checkAvailability(
  remote: RemoteApiService,
  objects: ServiceObjects,
  identity: ForwardedIdentity,
): Promise<Availability> {
  return (await checkService(remote, objects)) ?? (await checkDiscovery(remote, identity));
}

const unavailable = (reason: string, message: string): Availability => ({ status: "False", reason, message });

/** Checks the Service and its Endpoints. Returns undefined if they are usable. */
async function checkService(
  { target }: RemoteApiService,
  objects: ServiceObjects,
): Promise<Availability | undefined> {
  const { namespace, name, port } = target.service;
  const what = `service/${name} in "${namespace}"`;
  const unknown = (reason: string, error: unknown): Availability => {
    if (!(error instanceof StatusError || error instanceof StoreError)) throw error;
    return { status: "Unknown", reason, message: `${what} cannot be checked due to: ${error.message}` };
  };
  let service: Service | undefined;
  try {
    service = await objects.service(namespace, name);
  } catch (error) {
    return unknown("ServiceAccessError", error);
  }
  if (service === undefined) return unavailable("ServiceNotFound", `${what} is not present`);
  if ((service.spec?.type ?? "ClusterIP") !== "ClusterIP") return undefined;
  const servicePort = service.spec?.ports?.find((one) => one.port === port);
  if (servicePort === undefined) {
    return unavailable("ServicePortError", `${what} is not listening on port ${port}`);
  }
  let endpoints: Endpoints | undefined;
  try {
    endpoints = await objects.endpoints(namespace, name);
  } catch (error) {
    return unknown("EndpointsAccessError", error);
  }
  if (endpoints === undefined) return unavailable("EndpointsNotFound", `cannot find endpoints for ${what}`);
  const portName = servicePort.name ?? "";
  const isActive = (endpoints.subsets ?? []).some(
    ({ addresses = [], ports = [] }) =>
      addresses.length > 0 && ports.some(({ name: endpointPort = "" }) => endpointPort === portName),
  );
  if (isActive) return undefined;
  const message = `endpoints for ${what} have no addresses with port name "${portName}"`;
  return unavailable("MissingEndpoints", message);
}

async function checkDiscovery(remote: RemoteApiService, identity: ForwardedIdentity): Promise<Availability> {
  const { clock } = remote;
  const endMs = clock.monotonicNow() + discoveryTimeoutMs;
  for (let attempt = 1; ; attempt++) {
    try {
      const leftMs = Math.ceil(endMs - clock.monotonicNow());
      const answer = await remote.read(remote.path, { ...identity, accept: "application/json" }, leftMs);
      if (answer.status < 200 || answer.status > 299) {
        throw new RemoteFault(
          `bad status from https://${remote.authority}${remote.path}: ${answer.status}`,
          true,
        );
      }
      keepDiscovery(remote, answer);
      return { status: "True", reason: "Passed", message: "all checks passed" };
    } catch (error) {
      if (!(error instanceof RemoteFault || error instanceof StatusError)) throw error;
      if (attempt < attempts && clock.monotonicNow() < endMs) continue;
      const where = `https://${remote.authority}${remote.path}`;
      return unavailable(
        "FailedDiscoveryCheck",
        `failing or missing response from ${where}: ${error.message}`,
      );
    }
  }
}

function keepDiscovery(remote: RemoteApiService, { bytes }: RemoteAnswer): void {
  const groupVersion = remote.group === "" ? remote.version : `${remote.group}/${remote.version}`;
  const resources = readPublishedResources(bytes.toString("utf8"), groupVersion);
  if (resources !== undefined) remote.publish(resources);
}
