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
  "One address behind a service.",
  {
    ip: field(1, string, "The address; neither loopback nor link-local.").declaredRequired(),
    targetRef: field(2, ObjectReference, "The object that has the address.").nullable(),
    hostname: field(3, string, "Name of the host.").check(dnsLabel),
    nodeName: field(4, string, "Node on which it is.").nullable().checkedWhenEmpty().check(dnsSubdomain),
  },
  {
    check: (address, report) => reachableAddress(address.ip, report.at("ip")),
  },
);

const EndpointPort = atomicStruct("EndpointPort", "One port behind a service.", {
  name: field(1, string, "Name of the service's port; needed when there are several.").check(dnsLabel),
  port: field(2, int32, "Number of the port.").required().check(portNumber),
  protocol: field(3, string, "Protocol of the port.").oneOf("SCTP", "TCP", "UDP").unpublishedDefault("TCP"),
  appProtocol: field(4, string, "Protocol that is spoken above the port's own.")
    .nullable()
    .checkedWhenEmpty()
    .check(qualifiedName),
});

const EndpointSubset = struct(
  "EndpointSubset",
  "Addresses that share their ports.",
  {
    addresses: field(1, list(EndpointAddress), "Addresses that are ready.").atomic(),
    notReadyAddresses: field(
      2,
      list(EndpointAddress),
      "Addresses that aren't ready yet, or no longer.",
    ).atomic(),
    ports: field(3, list(EndpointPort), "Ports that every one of the addresses has.")
      .atomic()
      .check(namedPorts),
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
  doc: "Addresses and ports that really serve a service of the same name.",
  effect: {
    acts: "`proxy` of a service chooses one of the addresses",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the endpoints.").emitEmpty(),
    subsets: field(2, list(EndpointSubset), "All addresses, in groups that share their ports.").atomic(),
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
      doc: "The first of the addresses, with their ports.",
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
