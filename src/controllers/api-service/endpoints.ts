import { groupVersion, labelKey } from "../../vocabulary/names.ts";
import { isDeepStrictEqual } from "node:util";
import { isIPv4 } from "node:net";
import type { Client, NewObject } from "../../resources/clients/client.ts";
import { unlessRaced } from "../../resources/clients/races.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { createOrUpdate } from "../create-or-update.ts";
import { apiServiceNamespace } from "./service.ts";

/** Address of a server for clients. */
export interface ServerAddress {
  readonly ip: string;
  readonly port: number;
}

/**
 * Sets the Endpoints and the EndpointSlice of the API's own service to these addresses, if they differ.
 *
 * @param addresses addresses of all running servers, in the IP family of the first.
 */
export async function reconcileApiEndpoints(
  client: Client,
  vocabulary: Vocabulary,
  addresses: readonly ServerAddress[],
): Promise<void> {
  const sorted = addresses.toSorted((a, b) => (a.ip < b.ip ? -1 : a.ip > b.ip ? 1 : a.port - b.port));
  await Promise.all([
    write(client, endpoints(vocabulary, sorted)),
    write(client, endpointSlice(vocabulary, sorted)),
  ]);
}

function endpoints(
  { apiServiceName: name, domain }: Vocabulary,
  addresses: readonly ServerAddress[],
): NewObject {
  const byPort = [...new Set(addresses.map(({ port }) => port))];
  return {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: {
      name,
      namespace: apiServiceNamespace,
      // The EndpointSlice is created here too; the label keeps mirroring controllers from creating another one.
      labels: { [labelKey(domain, "skip-mirror", "endpointslice")]: "true" },
    },
    subsets: byPort.map((port) => ({
      addresses: addresses.filter((one) => one.port === port).map(({ ip }) => ({ ip })),
      ports: portsOf(port),
    })),
  };
}

function endpointSlice(
  { apiServiceName: name, domain, groupSuffix }: Vocabulary,
  addresses: readonly ServerAddress[],
): NewObject {
  const [first] = addresses;
  const same = addresses.filter((one) => one.port === first?.port && isIPv4(one.ip) === isIPv4(first.ip));
  return {
    apiVersion: groupVersion(groupSuffix, "discovery", "v1"),
    kind: "EndpointSlice",
    metadata: {
      name,
      namespace: apiServiceNamespace,
      labels: { [labelKey(domain, "service-name")]: name },
    },
    addressType: first === undefined || isIPv4(first.ip) ? "IPv4" : "IPv6",
    endpoints: same.map(({ ip }) => ({ addresses: [ip], conditions: { ready: true } })),
    ports: first === undefined ? [] : portsOf(first.port),
  };
}

const portsOf = (port: number) => [{ name: "https", port, protocol: "TCP" }];

/** Creates the object, or updates the labels and top-level members of the existing one. */
async function write(client: Client, object: NewObject): Promise<void> {
  const { apiVersion, kind, metadata } = object;
  const reference = { apiVersion, kind, namespace: apiServiceNamespace, name: metadata.name! };
  const merged = (live: ApiObject | undefined) => {
    if (live === undefined) return object;
    if (isUpToDate(live, object)) return undefined;
    const labels = { ...live.metadata.labels, ...(metadata["labels"] as object) };
    return { ...live, ...object, metadata: { ...live.metadata, labels } };
  };
  await unlessRaced(() => createOrUpdate(client, reference, merged));
}

/** Returns true if the existing object has the desired labels and top-level members. */
function isUpToDate(live: ApiObject, desired: NewObject): boolean {
  const labels = Object.entries(desired.metadata["labels"] as Record<string, string>);
  const parts = Object.keys(desired).filter((name) => !["apiVersion", "kind", "metadata"].includes(name));
  return (
    labels.every(([key, value]) => live.metadata.labels?.[key] === value) &&
    parts.every((name) => isDeepStrictEqual(live[name] ?? [], desired[name]))
  );
}
