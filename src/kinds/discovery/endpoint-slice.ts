import { dnsLabel, dnsSubdomain, qualifiedName } from "../checks/names.ts";
import { unchanged } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { TruncatedList } from "../truncated-list.ts";
import {
  checkAddressCount,
  checkEndpoints,
  checkNodes,
  checkPortNames,
  checkZones,
} from "./endpoint-slice-rules.ts";
import { ObjectReference } from "../core/references.ts";
import { atomicStruct, kind, struct } from "./v1.ts";
import { type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { since } from "../../schema/later-fields.ts";
import { bool, field, int32, list, map, string } from "../../schema/types.ts";

const EndpointConditions = struct("EndpointConditions", "State of an endpoint.", {
  ready: field(1, bool, "Whether it takes traffic; unknown counts as ready.").nullable(),
  serving: field(2, bool, "As ready, but also true for ready endpoints that are terminating.").nullable(),
  terminating: field(3, bool, "Whether the endpoint is on its way out.").nullable(),
});

const ForZone = struct("ForZone", "A zone that an endpoint is meant for.", {
  name: field(1, string, "Name of the zone.").declaredRequired(),
});

const ForNode = struct("ForNode", "A node whose clients should use an endpoint.", {
  name: field(1, string, "Name of the node.").declaredRequired(),
});

const EndpointHints = struct(
  "EndpointHints",
  "Advice on who should use an endpoint.",
  {
    forZones: field(1, list(ForZone), "Zones whose clients should use the endpoint.")
      .atomic()
      .check(checkZones),
  },
  {
    later: () => ({
      forNodes: since(
        "1.33",
        field(2, list(ForNode), "Nodes whose clients should use the endpoint.")
          .atomic()
          .check(checkNodes)
          .gated("PreferSameTrafficDistribution"),
      ),
    }),
  },
);

const Endpoint = struct("Endpoint", "One backend of a service.", {
  addresses: field(
    1,
    list(string),
    "Addresses of the endpoint, of the slice's type; all belong to the same backend.",
  )
    .declaredRequired()
    .set()
    .check(checkAddressCount),
  conditions: field(2, EndpointConditions, "State of the endpoint.").emitEmpty(),
  hostname: field(3, string, "Name of the endpoint's host.").nullable().checkedWhenEmpty().check(dnsLabel),
  targetRef: field(4, ObjectReference, "The object that the endpoint stands for.").nullable(),
  deprecatedTopology: field(
    5,
    map(string),
    "Topology that an older version of this type gave; it can only be kept.",
  ),
  nodeName: field(6, string, "Node on which the endpoint is.")
    .nullable()
    .checkedWhenEmpty()
    .check(dnsSubdomain),
  zone: field(7, string, "Zone in which the endpoint is.").nullable(),
  hints: field(8, EndpointHints, "Advice on who should use the endpoint.").nullable(),
});

const EndpointPort = atomicStruct("EndpointPort", "One port of all endpoints of a slice.", {
  name: field(1, string, "Name of the service's port; unique within the slice.")
    .nullable()
    .unpublishedDefault("")
    .check(dnsLabel),
  protocol: field(2, string, "Protocol of the port.")
    .nullable()
    .oneOf("SCTP", "TCP", "UDP")
    .unpublishedDefault("TCP"),
  port: field(3, int32, "Number of the port; absent means every port.").nullable(),
  appProtocol: field(4, string, "Protocol that is spoken above the port's own.")
    .nullable()
    .checkedWhenEmpty()
    .check(qualifiedName),
});

export const EndpointSlice = kind({
  name: "EndpointSlice",
  resource: "endpointslices",
  singular: "endpointslice",
  scope: "Namespaced",
  doc: "A part of the endpoints of a service.",
  effect: { acts: "`proxy` of a service chooses one of the addresses" },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the slice.").emitEmpty(),
    endpoints: field(2, list(Endpoint), "The endpoints; at most 1000.").declaredRequired().atomic(),
    ports: field(3, list(EndpointPort), "Ports that every endpoint has.")
      .emitEmpty()
      .atomic()
      .check(checkPortNames),
    addressType: field(4, string, "Type of all addresses in the slice; it can't be changed.")
      .required()
      .oneOf("FQDN", "IPv4", "IPv6"),
  },
  // All members except the metadata, and the labels, by which slices are selected.
  generationOf: ({ addressType, endpoints, ports, metadata }) => [
    addressType,
    endpoints,
    ports,
    Object.entries(metadata.labels ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  ],
  prepareCreate: dropTopology,
  prepareUpdate: dropTopology,
  validate(slice, report, context) {
    checkEndpoints(slice.endpoints ?? [], slice.addressType, report.at("endpoints"), context);
  },
  validateUpdate(slice, live, report) {
    unchanged(slice.addressType, live.addressType, report.at("addressType"));
  },
  columns: [
    nameColumn,
    {
      name: "AddressType",
      type: "string",
      doc: "Type of all addresses in the slice.",
      cell: (slice) => slice.addressType,
    },
    {
      name: "Ports",
      type: "string",
      doc: "The first of the ports.",
      cell: ({ ports }) => {
        const cell = new TruncatedList();
        const all = ports ?? [];
        cell.add(all.length, (index) => String(all[index]!.port ?? all[index]!.name ?? "*"));
        return cell.text("<unset>");
      },
    },
    {
      name: "Endpoints",
      type: "string",
      doc: "The first of the addresses.",
      cell: ({ endpoints }) => {
        const cell = new TruncatedList();
        for (const { addresses } of endpoints ?? []) {
          cell.add((addresses ?? []).length, (index) => addresses[index]!);
        }
        return cell.text("<unset>");
      },
    },
    ageColumn,
  ],
});
export type EndpointSlice = ObjectFor<typeof EndpointSlice>;

/** Removes the topology of v1beta1, which is replaced by other fields. */
function dropTopology(copy: { endpoints?: { deprecatedTopology?: unknown }[] | null }): void {
  for (const endpoint of copy.endpoints ?? []) delete endpoint.deprecatedTopology;
}
