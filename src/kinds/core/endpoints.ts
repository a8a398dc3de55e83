import { reachableAddress } from "../checks/addresses.ts";
import { dnsLabel, dnsSubdomain, qualifiedName } from "../checks/names.ts";
import { portNumber } from "../checks/numbers.ts";
import { rejectsAmbiguous, unambiguousAddress } from "../checks/strict-addresses.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { TruncatedList } from "../truncated-list.ts";
import { ObjectReference } from "./references.ts";
import { atomicStruct, kind, struct } from "./v1.ts";
import { deepEqual, type JsonValue } from "../../base/json/value.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { type Static, field, int32, list, string } from "../../schema/types.ts";

const EndpointAddress = atomicStruct(
  "EndpointAddress",
  "An address of an endpoint.",
  {
    ip: field(1, string, "IP address; loopback and link-local addresses are not allowed.").declaredRequired(),
    targetRef: field(2, ObjectReference, "Object that provides the endpoint, usually a Pod.").nullable(),
    hostname: field(3, string, "Host name of the endpoint.").check(dnsLabel),
    nodeName: field(4, string, "Name of the node that runs the endpoint.")
      .nullable()
      .checkedWhenEmpty()
      .check(dnsSubdomain),
  },
  {
    check: (address, report) => reachableAddress(address.ip, report.at("ip")),
  },
);

const EndpointPort = atomicStruct("EndpointPort", "A port of the endpoints.", {
  name: field(1, string, "Name of the port; required if there are several ports.").check(dnsLabel),
  port: field(2, int32, "Port number, 1 to 65535.").required().check(portNumber),
  protocol: field(3, string, "Protocol of the port: TCP, UDP or SCTP. Default: TCP.")
    .oneOf("SCTP", "TCP", "UDP")
    .unpublishedDefault("TCP"),
  appProtocol: field(4, string, "Application protocol of the port, such as `http`.")
    .nullable()
    .checkedWhenEmpty()
    .check(qualifiedName),
});

const EndpointSubset = struct(
  "EndpointSubset",
  "Addresses with the same ports.",
  {
    addresses: field(1, list(EndpointAddress), "Addresses of ready endpoints.").atomic(),
    notReadyAddresses: field(2, list(EndpointAddress), "Addresses of endpoints that are not ready.").atomic(),
    ports: field(3, list(EndpointPort), "Ports of all addresses of the subset.").atomic().check(namedPorts),
  },
  {
    check(subset, report) {
      if (subset.addresses !== undefined || subset.notReadyAddresses !== undefined) return;
      report.required("must specify `addresses` or `notReadyAddresses`");
    },
  },
);
type EndpointSubset = Static<typeof EndpointSubset>;

export const Endpoints = kind({
  name: "Endpoints",
  resource: "endpoints",
  singular: "endpoints",
  shortNames: ["ep"],
  scope: "Namespaced",
  createOnUpdate: true,
  doc: "Endpoints of the Service with the same name.",
  effect: {
    acts: "`proxy` of a service chooses one of the addresses",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the endpoints.").emitEmpty(),
    subsets: field(2, list(EndpointSubset), "The endpoints, grouped by their ports.").atomic(),
  },
  validateCreate(endpoints, report, context) {
    unambiguousEndpoints(endpoints.subsets ?? [], report.at("subsets"), context);
  },
  validateUpdate({ subsets = [] }, live, report, context) {
    if (!rejectsAmbiguous(context) || deepEqual(subsets as JsonValue, (live.subsets ?? []) as JsonValue))
      return;
    unambiguousEndpoints(subsets, report.at("subsets"), context);
  },
  columns: [
    nameColumn,
    {
      name: "Endpoints",
      type: "string",
      doc: "First addresses and ports of the endpoints.",
      cell: ({ subsets }) => (subsets === undefined ? "<none>" : addressesText(subsets)),
    },
    ageColumn,
  ],
});
export type Endpoints = ObjectFor<typeof Endpoints>;

/** Rejects addresses that programs read differently. */
function unambiguousEndpoints(
  subsets: readonly EndpointSubset[],
  report: FieldReport,
  context: KindContext,
): void {
  if (!rejectsAmbiguous(context)) return;
  for (const [index, subset] of subsets.entries()) {
    for (const list of ["addresses", "notReadyAddresses"] as const) {
      if (report.full) return;
      for (const [at, { ip }] of (subset[list] ?? []).entries())
        unambiguousAddress(ip, report.at(index, list, at, "ip"), context);
    }
  }
}

/** Requires names of ports if there are several. */
function namedPorts(ports: readonly { readonly name?: string | undefined }[], report: FieldReport): void {
  if (ports.length < 2) return;
  for (const [index, port] of ports.entries()) {
    if (report.full) return;
    if ((port.name ?? "") === "") report.at(index, "name").required();
  }
}

function addressesText(subsets: readonly EndpointSubset[]): string {
  const cell = new TruncatedList();
  for (const { addresses = [], ports = [] } of subsets) {
    // Endpoints of headless services may have no ports.
    if (ports.length === 0) cell.add(addresses.length, (index) => addresses[index]!.ip);
    for (const { port } of ports) {
      cell.add(addresses.length, (index) => hostAndPort(addresses[index]!.ip, port));
    }
  }
  return cell.text();
}

function hostAndPort(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
