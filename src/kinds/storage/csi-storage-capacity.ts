import { kind as kindV1 } from "./v1.ts";
import { kind as kindV1beta1 } from "./v1beta1.ts";
import { type ObjectFor } from "../../schema/kind.ts";
import { storageCapacity } from "./storage-capacity.ts";
import { sameFields } from "../same-fields.ts";

export const CSIStorageCapacity = kindV1(storageCapacity);
export type CSIStorageCapacity = ObjectFor<typeof CSIStorageCapacity>;

/** The kind in v1beta1. */
export const CSIStorageCapacityV1beta1 = kindV1beta1({
  ...storageCapacity,
  conversion: sameFields(() => CSIStorageCapacity),
});
export type CSIStorageCapacityV1beta1 = ObjectFor<typeof CSIStorageCapacityV1beta1>;
