import { orNone } from "../cells.ts";
import { unchanged } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { NodeSelector } from "../core/node-selector.ts";
import { kind, struct } from "./v1alpha1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, int32, string } from "../../schema/types.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { cidrFamily, isCidr, prefixLength } from "../checks/addresses.ts";

const minHostBits = 4;

interface Ranges {
  readonly perNodeHostBits: number;
  readonly ipv4?: string | undefined;
  readonly ipv6?: string | undefined;
}

/** Requires a range of at least one family that is large enough for the range of a node. */
function checkRanges({ perNodeHostBits, ipv4 = "", ipv6 = "" }: Ranges, report: FieldReport): void {
  if (ipv4 === "" && ipv6 === "")
    return report.required("one or both of `ipv4` and `ipv6` must be specified");
  if (ipv4 !== "") checkRange(ipv4, perNodeHostBits, "IPv4", report);
  if (ipv6 !== "") checkRange(ipv6, perNodeHostBits, "IPv6", report);
}

function checkRange(range: string, hostBits: number, family: "IPv4" | "IPv6", report: FieldReport): void {
  // As in the reference, the path is the name of the family.
  const here = report.at(family);
  if (!isCidr(range)) return here.invalid(range, `must be a valid CIDR: ${range}`);
  if (cidrFamily(range) !== family) return here.invalid(range, `must be a valid ${family} CIDR`);
  const maxHostBits = (family === "IPv4" ? 32 : 128) - prefixLength(range);
  const bitsReport = report.at("perNodeHostBits");
  if (hostBits < minHostBits) bitsReport.invalid(hostBits, `must be greater than or equal to ${minHostBits}`);
  if (hostBits > maxHostBits) bitsReport.invalid(hostBits, `must be less than or equal to ${maxHostBits}`);
}

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

interface Selector {
  readonly nodeSelectorTerms:
    | readonly {
        readonly matchExpressions?: readonly Requirement[] | undefined;
        readonly matchFields?: readonly Requirement[] | undefined;
      }[]
    | null;
}

/** Formats the terms of a node selector as the reference does. */
function nodeSelectorText({ nodeSelectorTerms }: Selector): string {
  return (nodeSelectorTerms ?? [])
    .flatMap(({ matchExpressions, matchFields }) => [
      ...(matchExpressions === undefined ? [] : [`MatchExpressions: ${requirementsText(matchExpressions)}`]),
      ...(matchFields === undefined ? [] : [`MatchFields: ${requirementsText(matchFields)}`]),
    ])
    .join(",");
}

function requirementsText(requirements: readonly Requirement[]): string {
  const texts = requirements.map(
    ({ key, operator, values = [] }) => `{${key} ${operator} [${values.join(" ")}]}`,
  );
  return `[${texts.join(" ")}]`;
}

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
