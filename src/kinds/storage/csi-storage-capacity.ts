import { kind as kindV1 } from "./v1.ts";
import { kind as kindV1beta1 } from "./v1beta1.ts";
import type { ObjectFor, KindSpec, ObjectOf } from "../../schema/kind.ts";
import { sameFields } from "../same-fields.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, quantity, string } from "../../schema/types.ts";
import { dnsSubdomainFaults } from "../../base/names.ts";
import { nonNegativeQuantity } from "../checks/quantities.ts";
import { labelSelector } from "../checks/selectors.ts";
import { unchanged } from "../checks/values.ts";
import { nameColumn } from "../columns.ts";
import { LabelSelector } from "../meta/label-selector.ts";

const fields = {
  metadata: field(1, ObjectMeta, "Metadata of the CSIStorageCapacity.").emitEmpty(),
  nodeTopology: field(
    2,
    LabelSelector,
    "Label selector of the nodes that can access the storage; absent selects none, empty all.",
  )
    .nullable()
    .check(labelSelector),
  storageClassName: field(3, string, "Name of the StorageClass; immutable.").declaredRequired(),
  capacity: field(4, quantity, "Available capacity in bytes, as a quantity.")
    .nullable()
    .check(nonNegativeQuantity),
  maximumVolumeSize: field(5, quantity, "Maximum size of a new volume in bytes, as a quantity.")
    .nullable()
    .check(nonNegativeQuantity),
};

/** The kind without group and version; it is the same in each version. */
const storageCapacity: Omit<KindSpec<typeof fields>, "group" | "version"> & {
  readonly name: "CSIStorageCapacity";
} = {
  name: "CSIStorageCapacity",
  resource: "csistoragecapacities",
  singular: "csistoragecapacity",
  scope: "Namespaced",
  allowUnconditionalUpdate: false,
  doc: "Available capacity of a storage class in a part of the cluster.",
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
      doc: "Name of the StorageClass.",
      cell: (object: ObjectOf<typeof fields>) => object.storageClassName,
    },
    {
      name: "Capacity",
      type: "string",
      doc: "Available capacity.",
      cell: (object: ObjectOf<typeof fields>) => object.capacity ?? "<unset>",
    },
  ],
};

export const CSIStorageCapacity = kindV1(storageCapacity);
export type CSIStorageCapacity = ObjectFor<typeof CSIStorageCapacity>;

/** The kind in v1beta1. */
export const CSIStorageCapacityV1beta1 = kindV1beta1({
  ...storageCapacity,
  conversion: sameFields(() => CSIStorageCapacity),
});
export type CSIStorageCapacityV1beta1 = ObjectFor<typeof CSIStorageCapacityV1beta1>;
