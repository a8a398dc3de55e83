import { isAtLeast } from "../../base/releases.ts";
import { nonNegative } from "../checks/numbers.ts";
import { same, uniqueBy } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { checkNodeDriver, nodeIdentifier } from "./csi-node-rules.ts";
import { kind, struct } from "./v1.ts";
import { type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { since } from "../../schema/later-fields.ts";
import { field, int32, list, string, time } from "../../schema/types.ts";

const VolumeNodeResources = struct("VolumeNodeResources", "Limits of a driver on a node.", {
  count: field(1, int32, "The most volumes of the driver that the node can use; absent means no limit.")
    .nullable()
    .check(nonNegative),
});

const CSINodeDriver = struct(
  "CSINodeDriver",
  "A storage driver on a node.",
  {
    name: field(1, string, "Name of the driver.").declaredRequired(),
    nodeID: field(2, string, "Name by which the driver knows the node.").required().check(nodeIdentifier),
    topologyKeys: field(3, list(string), "Label keys that tell where the node is.").emitEmpty().atomic(),
    allocatable: field(4, VolumeNodeResources, "Limits of the driver on the node.").nullable(),
  },
  { check: checkNodeDriver },
);

const CSINodeSpec = struct("CSINodeSpec", "Storage drivers of a node.", {
  drivers: field(1, list(CSINodeDriver), "The drivers; an empty list means none.")
    .declaredRequired()
    .mapBy("name")
    .patchMerge("name")
    .check(uniqueBy(({ name }) => name, "name")),
});

const StorageHealthCondition = struct("StorageHealthCondition", "A problem of the storage of a driver.", {
  status: field(1, string, "What is wrong.").declaredRequired(),
  reason: field(2, string, "Short reason for programs.").declaredRequired(),
  message: field(3, string, "Explanation for people."),
  accessMode: field(4, string, "Access mode of the volumes that have the problem.").nullable(),
  volumeMode: field(5, string, "Mode of the volumes that have the problem.").nullable(),
  lastTransitionTime: field(6, time, "When the condition last changed.").nullable(),
});

const StorageHealth = struct("StorageHealth", "Health of the storage of a driver.", {
  name: field(1, string, "Name of the driver.").declaredRequired(),
  healthConditions: field(2, list(StorageHealthCondition), "Problems of the storage.").atomic(),
});

const CSINodeStatus = struct("CSINodeStatus", "State of the storage on a node.", {
  storageHealth: field(1, list(StorageHealth), "Health by driver.")
    .mapBy("name")
    .patchMerge("name")
    .gated("CSIVolumeHealth"),
});

export const CSINode = kind({
  name: "CSINode",
  resource: "csinodes",
  singular: "csinode",
  scope: "Cluster",
  returnsDeletedObject: true,
  allowUnconditionalUpdate: false,
  doc: "Storage drivers that are installed on a node.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata; the name is that of the node.").emitEmpty(),
    spec: field(2, CSINodeSpec, "Storage drivers of the node.").declaredRequired(),
  },
  later: () => ({ status: since("1.37", field(3, CSINodeStatus, "State of the storage.").emitEmpty()) }),
  laterStatus: {
    since: "1.37",
    status: { initial: () => ({}), keepsMetadata: "all" },
  },
  validateUpdate(node, live, report, context) {
    const path = isAtLeast(context.release, "1.33")
      ? report.at("spec", "drivers")
      : report.at("CSINodeDriver");
    const ignored = context.enabled("MutableCSINodeAllocatableCount") ? { allocatable: undefined } : {};
    const now = new Map((node.spec?.drivers ?? []).map((driver) => [driver.name, driver]));
    for (const driver of live.spec?.drivers ?? []) {
      const changed = now.get(driver.name);
      if (changed === undefined || same({ ...changed, ...ignored }, { ...driver, ...ignored })) continue;
      // As in the reference, all drivers have this path.
      path.invalid(changed, "field is immutable");
    }
  },
  columns: [
    nameColumn,
    {
      name: "Drivers",
      type: "integer",
      doc: "How many drivers the node has.",
      cell: ({ spec }) => (spec?.drivers ?? []).length,
    },
    ageColumn,
  ],
});
export type CSINode = ObjectFor<typeof CSINode>;
