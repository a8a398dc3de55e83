import { kind, struct } from "./v1alpha1.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, list, string } from "../../schema/types.ts";
import { dnsSubdomain } from "../checks/names.ts";
import { uniqueBy } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";

const PodSchedulingSpec = struct("PodSchedulingSpec", "The scheduler's choice of nodes for a pod.", {
  selectedNode: field(1, string, "Name of the node for which resources should be allocated."),
  potentialNodes: field(2, list(string), "Names of the nodes under consideration; at most 128.")
    .set()
    .check(nodeNames),
});

const ResourceClaimSchedulingStatus = struct(
  "ResourceClaimSchedulingStatus",
  "Nodes that are unsuitable for a claim.",
  {
    name: field(1, string, "Name of the claim in the pod's `resourceClaims`."),
    unsuitableNodes: field(
      2,
      list(string),
      "Names of nodes on which the claim cannot be allocated; at most 128.",
    ).set(),
  },
);

const PodSchedulingStatus = struct("PodSchedulingStatus", "Unsuitable nodes reported by drivers.", {
  resourceClaims: field(
    1,
    list(ResourceClaimSchedulingStatus),
    "Unsuitable nodes of each claim of the pod.",
  ).mapBy("name"),
});

const maxNodes = 128;

function nodeNames(names: readonly string[], report: FieldReport): void {
  uniqueSet(names, maxNodes, dnsSubdomain, report);
}

export const PodScheduling = kind({
  name: "PodScheduling",
  resource: "podschedulings",
  singular: "podscheduling",
  scope: "Namespaced",
  returnsDeletedObject: true,
  servedByDefault: false,
  doc: "Coordinates the choice of a node for a pod between scheduler and drivers.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata; the name is the name of the pod.").emitEmpty(),
    spec: field(2, PodSchedulingSpec, "The scheduler's choice of nodes.").required(),
    status: field(3, PodSchedulingStatus, "Unsuitable nodes reported by drivers.").emitEmpty(),
  },
  validate({ status }, report) {
    const claims = status?.resourceClaims ?? [];
    // In the reference, faults of this list have the path `claims`.
    const claimsReport = report.at("status", "claims");
    uniqueBy<(typeof claims)[number]>((claim) => claim.name)(claims, claimsReport);
    for (const [index, { unsuitableNodes = [] }] of claims.entries()) {
      nodeNames(unsuitableNodes, claimsReport.at(index, "unsuitableNodes"));
    }
  },
  status: {
    initial: () => ({}),
  },
  columns: [
    nameColumn,
    {
      name: "SelectedNode",
      type: "string",
      doc: "Name of the node for which resources should be allocated.",
      cell: ({ spec }) => spec.selectedNode ?? "",
    },
    ageColumn,
  ],
});
export type PodScheduling = ObjectFor<typeof PodScheduling>;

/** Returns a check for a list of at most `max` unique and valid texts. */
function uniqueSet(
  items: readonly string[],
  max: number,
  rule: (item: string, report: FieldReport) => void,
  report: FieldReport,
): void {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    if (report.full) return;
    rule(item, report.at(index));
    if (seen.has(item)) report.at(index).duplicate(item);
    seen.add(item);
  }
  if (items.length > max) report.tooMany(items.length, max);
}
