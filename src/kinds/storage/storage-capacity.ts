import type { KindSpec, ObjectOf } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, quantity, string } from "../../schema/types.ts";
import { dnsSubdomainFaults } from "../../base/names.ts";
import { nonNegativeQuantity } from "../checks/quantities.ts";
import { labelSelector } from "../checks/selectors.ts";
import { unchanged } from "../checks/values.ts";
import { nameColumn } from "../columns.ts";
import { LabelSelector } from "../meta/label-selector.ts";

const fields = {
  metadata: field(1, ObjectMeta, "Metadata of the capacity.").emitEmpty(),
  nodeTopology: field(2, LabelSelector, "Nodes that can reach the storage; absent means none, empty all.")
    .nullable()
    .check(labelSelector),
  storageClassName: field(3, string, "Class of the storage; it can't be changed.").declaredRequired(),
  capacity: field(4, quantity, "How much is left.").nullable().check(nonNegativeQuantity),
  maximumVolumeSize: field(5, quantity, "The largest volume that can be made.")
    .nullable()
    .check(nonNegativeQuantity),
};

/** The kind without group and version; it is the same in each version. */
export const storageCapacity: Omit<KindSpec<typeof fields>, "group" | "version"> & {
  readonly name: "CSIStorageCapacity";
} = {
  name: "CSIStorageCapacity",
  resource: "csistoragecapacities",
  singular: "csistoragecapacity",
  scope: "Namespaced",
  allowUnconditionalUpdate: false,
  doc: "How much storage of a class is left in a part of the cluster.",
  fields,
  validate({ storageClassName }, report) {
    for (const message of dnsSubdomainFaults(storageClassName)) {
      report.at("storageClassName").invalid(storageClassName, message);
    }
  },
  validateUpdate(capacity, live, report) {
    unchanged(capacity.nodeTopology, live.nodeTopology, report.at("nodeTopology"));
    unchanged(capacity.storageClassName, live.storageClassName, report.at("storageClassName"));
  },
  columns: [
    nameColumn,
    {
      name: "StorageClassName",
      type: "string",
      doc: "Class of the storage.",
      cell: (object: ObjectOf<typeof fields>) => object.storageClassName,
    },
    {
      name: "Capacity",
      type: "string",
      doc: "How much is left.",
      cell: (object: ObjectOf<typeof fields>) => object.capacity ?? "<unset>",
    },
  ],
};
