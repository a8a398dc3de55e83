import { since, applies } from "../../base/release-rows.ts";
import { dnsLabel, dnsSubdomain, qualifiedName, fullyQualifiedName, labelValue } from "../checks/names.ts";
import { unchanged } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { TruncatedList } from "../truncated-list.ts";
import { ObjectReference } from "../core/references.ts";
import { atomicStruct, kind, struct } from "./v1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, field, int32, list, map, string } from "../../schema/types.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { canonicalAddress, familyOf, isAddress, reachableAddress } from "../checks/addresses.ts";

const maxEndpoints = 1000;
const maxAddresses = 100;
const maxPorts = 20_000;
const maxHints = 8;

interface CheckedEndpoint {
  readonly addresses?: readonly string[] | null;
}

/** Requires that the addresses of all endpoints have the slice's address type. */
function checkEndpoints(
  endpoints: readonly CheckedEndpoint[],
  type: string,
  report: FieldReport,
  context: KindContext,
): void {
  if (endpoints.length > maxEndpoints) return report.tooMany(endpoints.length, maxEndpoints);
  for (const [index, { addresses }] of endpoints.entries()) {
    const here = report.at(index, "addresses");
    if ((addresses ?? []).length === 0) here.required("must contain at least 1 address");
    for (const [at, address] of (addresses ?? []).entries()) {
      if (report.full) return;
      checkAddress(address, type, here.at(at), context);
    }
  }
}

/** Whether addresses that aren't in canonical form are refused. */
const refusesOtherForms = applies(since("1.33"));

function checkAddress(
  address: string,
  type: string,
  report: FieldReport,
  context: Pick<KindContext, "release">,
): void {
  if (type === "FQDN") return fullyQualifiedName(address, report);
  if (type !== "IPv4" && type !== "IPv6") return;
  if (!isAddress(address) || familyOf(address) !== type)
    return report.invalid(address, `must be a valid ${type} address`);
  const canonical = canonicalAddress(address);
  if (canonical !== address && refusesOtherForms(context))
    return report.invalid(address, `must be in canonical form ("${canonical}")`);
  reachableAddress(address, report);
}

/** Limits the number of addresses of an endpoint. */
function checkAddressCount(addresses: readonly string[], report: FieldReport): void {
  if (addresses.length > maxAddresses) report.tooMany(addresses.length, maxAddresses);
}

/** Requires unique names of ports; one may be empty. */
function checkPortNames(ports: readonly { readonly name?: string | undefined }[], report: FieldReport): void {
  if (ports.length > maxPorts) return report.tooMany(ports.length, maxPorts);
  const seen = new Set<string>();
  for (const [index, { name = "" }] of ports.entries()) {
    if (report.full) return;
    if (seen.has(name)) report.at(index, "name").duplicate(name);
    seen.add(name);
  }
}

/** Requires unique zones that are valid label values. */
function checkZones(zones: readonly { readonly name: string }[], report: FieldReport): void {
  checkNames(zones, labelValue, report);
}

/** Requires at most 8 unique names of nodes. */
function checkNodes(nodes: readonly { readonly name: string }[], report: FieldReport): void {
  checkNames(nodes, dnsSubdomain, report);
}

function checkNames(
  items: readonly { readonly name: string }[],
  check: (name: string, report: FieldReport) => void,
  report: FieldReport,
): void {
  if (items.length > maxHints) return report.tooMany(items.length, maxHints);
  const seen = new Set<string>();
  for (const [index, { name }] of items.entries()) {
    const here = report.at(index, "name");
    if (seen.has(name)) here.duplicate(name);
    seen.add(name);
    check(name, here);
  }
}

const EndpointConditions = struct("EndpointConditions", "Conditions of an endpoint.", {
  ready: field(1, bool, "Whether the endpoint accepts traffic; absent counts as true.").nullable(),
  serving: field(
    2,
    bool,
    "Like `ready`, but stays true for terminating endpoints that still respond.",
  ).nullable(),
  terminating: field(3, bool, "Whether the endpoint is terminating.").nullable(),
});

const ForZone = struct("ForZone", "A zone that should use an endpoint.", {
  name: field(1, string, "Name of the zone.").declaredRequired(),
});

const ForNode = struct("ForNode", "A node that should use an endpoint.", {
  name: field(1, string, "Name of the node.").declaredRequired(),
});

const EndpointHints = struct(
  "EndpointHints",
  "Routing hints for an endpoint.",
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

const Endpoint = struct("Endpoint", "A backend of a Service.", {
  addresses: field(
    1,
    list(string),
    "Addresses of the backend, of the type in `addressType`; at least 1, at most 100.",
  )
    .declaredRequired()
    .set()
    .check(checkAddressCount),
  conditions: field(2, EndpointConditions, "Conditions of the endpoint.").emitEmpty(),
  hostname: field(3, string, "Host name of the endpoint.").nullable().checkedWhenEmpty().check(dnsLabel),
  targetRef: field(4, ObjectReference, "Object that provides the endpoint, usually a Pod.").nullable(),
  deprecatedTopology: field(
    5,
    map(string),
    "Deprecated topology labels of v1beta1; updates can only keep or remove them.",
  ),
  nodeName: field(6, string, "Name of the node that runs the endpoint.")
    .nullable()
    .checkedWhenEmpty()
    .check(dnsSubdomain),
  zone: field(7, string, "Name of the endpoint's zone.").nullable(),
  hints: field(8, EndpointHints, "Routing hints for the endpoint.").nullable(),
});

const EndpointPort = atomicStruct("EndpointPort", "A port of all endpoints of a slice.", {
  name: field(1, string, "Name of the port, unique in the slice. Default: empty.")
    .nullable()
    .unpublishedDefault("")
    .check(dnsLabel),
  protocol: field(2, string, "Protocol of the port: TCP, UDP or SCTP. Default: TCP.")
    .nullable()
    .oneOf("SCTP", "TCP", "UDP")
    .unpublishedDefault("TCP"),
  port: field(3, int32, "Port number; absent means all ports.").nullable(),
  appProtocol: field(4, string, "Application protocol of the port, such as `http`.")
    .nullable()
    .checkedWhenEmpty()
    .check(qualifiedName),
});

export const EndpointSlice = kind({
  name: "EndpointSlice",
  resource: "endpointslices",
  singular: "endpointslice",
  scope: "Namespaced",
  doc: "A subset of the endpoints of a Service.",
  effect: { acts: "`proxy` of a service chooses one of the addresses" },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the slice.").emitEmpty(),
    endpoints: field(2, list(Endpoint), "The endpoints, at most 1000.").declaredRequired().atomic(),
    ports: field(3, list(EndpointPort), "Ports of every endpoint.")
      .emitEmpty()
      .atomic()
      .check(checkPortNames),
    addressType: field(4, string, "Type of all addresses: IPv4, IPv6 or FQDN; immutable.")
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
      doc: "Type of the addresses.",
      cell: (slice) => slice.addressType,
    },
    {
      name: "Ports",
      type: "string",
      doc: "First ports of the slice.",
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
      doc: "First addresses of the slice.",
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
