import { kind as kindV1 } from "./v1.ts";
import { kind as kindV1beta1 } from "./v1beta1.ts";
import { type ObjectFor } from "../../schema/kind.ts";
import { storageCapacity } from "./storage-capacity.ts";

export const CSIStorageCapacity = kindV1(storageCapacity);
export type CSIStorageCapacity = ObjectFor<typeof CSIStorageCapacity>;

/** The kind in v1beta1. */
export const CSIStorageCapacityV1beta1 = kindV1beta1({
  ...storageCapacity,
  conversion: {
    stored: () => CSIStorageCapacity,
    toStored: (object) => object,
    fromStored: (object) => object,
  },
});
export type CSIStorageCapacityV1beta1 = ObjectFor<typeof CSIStorageCapacityV1beta1>;
