import { describe, expect, it } from "vitest";
import {
  CSIStorageCapacity,
  CSIStorageCapacityV1beta1,
} from "../../src/kinds/storage/csi-storage-capacity.ts";
import { cellsOf, judgeNew, judgeUpdate } from "./support.ts";

describe.each([
  ["v1", CSIStorageCapacity],
  ["v1beta1", CSIStorageCapacityV1beta1],
])("CSIStorageCapacity %s", (version, kind) => {
  const smallest = { storageClassName: "fast" };
  it.each<[string, object, string[]]>([
    ["accepts a minimal object", smallest, []],
    ["rejects a missing storageClassName", {}, ["storageClassName: FieldValueInvalid"]],
    [
      "rejects a negative capacity and maximumVolumeSize",
      { ...smallest, capacity: "-1", maximumVolumeSize: "-1" },
      ["capacity: FieldValueInvalid", "maximumVolumeSize: FieldValueInvalid"],
    ],
    [
      "rejects a malformed nodeTopology",
      { ...smallest, nodeTopology: { matchExpressions: [{ key: "a", operator: "Like" }] } },
      ["nodeTopology.matchExpressions[0].operator: FieldValueInvalid"],
    ],
  ])("%s", (_name, value, faults) => {
    expect(judgeNew(kind, value).faults).toEqual(faults);
  });

  it("storageClassName and nodeTopology are immutable, and capacity can change", () => {
    const now = { storageClassName: "slow", nodeTopology: {}, capacity: "1Gi" };
    expect(judgeUpdate(kind, smallest, now).faults).toEqual([
      "nodeTopology: FieldValueInvalid",
      "storageClassName: FieldValueInvalid",
    ]);
  });

  it("shows its table cells", () => {
    expect(cellsOf(kind, smallest)).toEqual({ Name: "one", StorageClassName: "fast", Capacity: "<unset>" });
    expect(cellsOf(kind, { ...smallest, capacity: "1Gi" })).toMatchObject({ Capacity: "1Gi" });
  });

  it("is stored as v1", () => {
    expect(kind.version).toBe(version);
    expect(kind.conversion?.stored()).toBe(version === "v1" ? undefined : CSIStorageCapacity);
  });
});
