import { kind, struct } from "./v1alpha1.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, list, string } from "../../schema/types.ts";
import { dnsSubdomain } from "../checks/names.ts";
import { uniqueBy } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { uniqueSet } from "./unique-set.ts";

const PodSchedulingSpec = struct("PodSchedulingSpec", "Where a scheduler would like to place a pod.", {
  selectedNode: field(1, string, "Name of the node for which resources should be provided."),
  potentialNodes: field(2, list(string), "Names of the nodes that come into question; at most 128.")
    .set()
    .check(nodeNames),
});

const ResourceClaimSchedulingStatus = struct(
  "ResourceClaimSchedulingStatus",
  "Which nodes don't suit a claim.",
  {
    name: field(1, string, "Name of the claim in the pod."),
    unsuitableNodes: field(2, list(string), "Names of nodes on which the claim can't be provided.").set(),
  },
);

const PodSchedulingStatus = struct("PodSchedulingStatus", "What drivers say about the nodes.", {
  resourceClaims: field(1, list(ResourceClaimSchedulingStatus), "One entry for each claim of the pod.").mapBy(
    "name",
  ),
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
  doc: "Lets a scheduler and drivers agree on a node for a pod.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata; its name is that of the pod.").emitEmpty(),
    spec: field(2, PodSchedulingSpec, "Where the scheduler would like to claimsReport the pod.").required(),
    status: field(3, PodSchedulingStatus, "What drivers say about the nodes.").emitEmpty(),
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
      doc: "Node for which resources should be provided.",
      cell: ({ spec }) => spec.selectedNode ?? "",
    },
    ageColumn,
  ],
});
export type PodScheduling = ObjectFor<typeof PodScheduling>;
