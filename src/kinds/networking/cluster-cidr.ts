import { orNone } from "../cells.ts";
import { unchanged } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { checkRanges, nodeSelectorText } from "./cluster-cidr-rules.ts";
import { NodeSelector } from "../core/node-selector.ts";
import { kind, struct } from "./v1alpha1.ts";
import { type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, int32, string } from "../../schema/types.ts";

const ClusterCIDRSpec = struct(
  "ClusterCIDRSpec",
  "Address ranges for the pods of some nodes.",
  {
    nodeSelector: field(
      1,
      NodeSelector,
      "Nodes that get pod addresses from the ranges; absent selects every node.",
    ).nullable(),
    perNodeHostBits: field(
      2,
      int32,
      "Number of host bits of the range of each node; at least 4.",
    ).declaredRequired(),
    ipv4: field(3, string, "IPv4 range in CIDR notation; empty for none.").emitEmpty(),
    ipv6: field(4, string, "IPv6 range in CIDR notation; empty for none.").emitEmpty(),
  },
  { check: checkRanges },
);

export const ClusterCIDR = kind({
  name: "ClusterCIDR",
  resource: "clustercidrs",
  singular: "clustercidr",
  shortNames: ["cc"],
  scope: "Cluster",
  servedByDefault: false,
  doc: "Address ranges from which nodes get the addresses of their pods.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the ClusterCIDR.").emitEmpty(),
    spec: field(2, ClusterCIDRSpec, "The address ranges and their nodes.").emitEmpty(),
  },
  validateUpdate(range, live, report) {
    for (const name of ["nodeSelector", "perNodeHostBits", "ipv4", "ipv6"] as const) {
      unchanged(range.spec?.[name], live.spec?.[name], report.at("spec", name));
    }
  },
  columns: [
    nameColumn,
    {
      name: "PerNodeHostBits",
      type: "string",
      doc: "Number of host bits of the range of each node.",
      cell: ({ spec }) => String(spec?.perNodeHostBits ?? 0),
    },
    {
      name: "IPv4",
      type: "string",
      doc: "IPv4 range in CIDR notation.",
      cell: ({ spec }) => orNone(spec?.ipv4),
    },
    {
      name: "IPv6",
      type: "string",
      doc: "IPv6 range in CIDR notation.",
      cell: ({ spec }) => orNone(spec?.ipv6),
    },
    ageColumn,
    {
      name: "NodeSelector",
      type: "string",
      priority: 1,
      doc: "Nodes that get pod addresses from the ranges.",
      cell: ({ spec }) => (spec?.nodeSelector === undefined ? "<none>" : nodeSelectorText(spec.nodeSelector)),
    },
  ],
});
export type ClusterCIDR = ObjectFor<typeof ClusterCIDR>;
