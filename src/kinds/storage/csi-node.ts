import { nonNegative } from "../checks/numbers.ts";
import { same, uniqueBy } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { checkNodeDriver, nodeIdentifier } from "./csi-node-rules.ts";
import { kind, struct } from "./v1.ts";
import { type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, int32, list, string } from "../../schema/types.ts";

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
  validateUpdate(node, live, report) {
    const now = new Map((node.spec?.drivers ?? []).map((driver) => [driver.name, driver]));
    for (const driver of live.spec?.drivers ?? []) {
      const changed = now.get(driver.name);
      if (changed === undefined || same(changed, driver)) continue;
      // As in the reference, all drivers have this path.
      report.at("CSINodeDriver").invalid(changed, "field is immutable");
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
