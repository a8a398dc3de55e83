import { describe, expect, it } from "vitest";
import { StorageClass } from "../../src/kinds/storage/storage-class.ts";
import { cellsOf, judgeNew, judgeUpdate, readAs } from "./support.ts";
import { context } from "./storage-support.ts";

describe("StorageClass", () => {
  const smallest = { provisioner: "example.com/disk" };
  it("a minimal object gets its defaults and is valid", () => {
    const { object, faults } = judgeNew(StorageClass, smallest);
    expect(faults).toEqual([]);
    expect(object).toMatchObject({ ...smallest, reclaimPolicy: "Delete", volumeBindingMode: "Immediate" });
    expect(object).not.toHaveProperty("allowVolumeExpansion");
  });

  const topologies = (...terms: object[][]) => ({
    allowedTopologies: terms.map((matchLabelExpressions) => ({ matchLabelExpressions })),
  });
  it.each<[string, object, string[]]>([
    ["rejects an empty provisioner", { provisioner: "" }, ["provisioner: FieldValueRequired"]],
    ["accepts a provisioner in mixed case", { provisioner: "Example.com/Disk" }, []],
    ["rejects a malformed provisioner", { provisioner: "a b" }, ["provisioner: FieldValueInvalid"]],
    [
      "rejects an unknown reclaimPolicy",
      { reclaimPolicy: "Keep" },
      ["reclaimPolicy: FieldValueNotSupported"],
    ],
    [
      "rejects reclaimPolicy Recycle, which only PersistentVolumes support",
      { reclaimPolicy: "Recycle" },
      ["reclaimPolicy: FieldValueNotSupported"],
    ],
    [
      "rejects an unknown volumeBindingMode",
      { volumeBindingMode: "Later" },
      ["volumeBindingMode: FieldValueNotSupported"],
    ],
    [
      "rejects a parameter with an empty name",
      { parameters: { "": "a" } },
      ["parameters: FieldValueInvalid"],
    ],
    [
      "rejects more than 512 parameters",
      { parameters: Object.fromEntries(Array.from({ length: 513 }, (_, index) => [`p${index}`, ""])) },
      ["parameters: FieldValueTooLong"],
    ],
    [
      "rejects parameters above 256 KiB",
      { parameters: { a: "x".repeat(256 * 1024) } },
      ["parameters: FieldValueTooLong"],
    ],
    [
      "accepts different allowedTopologies",
      topologies(
        [{ key: "a", values: ["b"] }],
        [{ key: "a", values: ["b", "c"] }],
        [{ key: "d", values: ["b"] }],
      ),
      [],
    ],
    [
      "rejects duplicate allowedTopologies",
      topologies([{ key: "a", values: ["b", "c"] }], [{ key: "a", values: ["c", "b"] }]),
      ["allowedTopologies[1].matchLabelExpressions: FieldValueDuplicate"],
    ],
    // As in the reference, an empty term counts as a duplicate.
    [
      "rejects an empty term in allowedTopologies",
      topologies([]),
      ["allowedTopologies[0].matchLabelExpressions: FieldValueDuplicate"],
    ],
    [
      "rejects duplicate and missing values and duplicate and malformed keys in allowedTopologies",
      topologies([{ key: "a b", values: ["b", "b"] }, { key: "c" }, { key: "c", values: ["d"] }]),
      [
        "allowedTopologies[0].matchLabelExpressions[0].values[1]: FieldValueDuplicate",
        "allowedTopologies[0].matchLabelExpressions[0].key: FieldValueInvalid",
        "allowedTopologies[0].matchLabelExpressions[1].values: FieldValueRequired",
        "allowedTopologies[0].matchLabelExpressions[2].key: FieldValueDuplicate",
      ],
    ],
  ])("%s", (_name, change, faults) => {
    expect(judgeNew(StorageClass, { ...smallest, ...change }).faults).toEqual(faults);
  });

  it("parameters, provisioner, reclaimPolicy and volumeBindingMode are immutable, and other fields can change", () => {
    expect(
      judgeUpdate(StorageClass, smallest, {
        provisioner: "other",
        parameters: { a: "b" },
        reclaimPolicy: "Retain",
        volumeBindingMode: "WaitForFirstConsumer",
      }).faults,
    ).toEqual([
      "parameters: FieldValueForbidden",
      "provisioner: FieldValueForbidden",
      "reclaimPolicy: FieldValueForbidden",
      "volumeBindingMode: FieldValueInvalid",
    ]);
    const now = { ...smallest, allowVolumeExpansion: true, mountOptions: ["ro"] };
    expect(judgeUpdate(StorageClass, smallest, now).faults).toEqual([]);
  });

  it("returns warnings for deprecated topology labels", () => {
    const old = topologies([{ key: "failure-domain.beta.platform.io/region", values: ["a"] }]);
    const warn = (change: object) =>
      StorageClass.warnings!(readAs(StorageClass, { ...smallest, ...change }), context, undefined);
    expect(warn({})).toEqual([]);
    expect(warn(old)).toEqual([
      'allowedTopologies[0].matchLabelExpressions[0].key: deprecated since v1.17; use "topology.platform.io/region" instead',
    ]);
  });

  it("shows its table cells", () => {
    expect(cellsOf(StorageClass, smallest)).toEqual({
      Name: "one",
      Provisioner: "example.com/disk",
      ReclaimPolicy: "Delete",
      VolumeBindingMode: "Immediate",
      AllowVolumeExpansion: false,
      Age: "<unknown>",
    });
    for (const prefix of ["storageclass", "storageclass.beta"]) {
      const annotations = { [`${prefix}.platform.io/is-default-class`]: "true" };
      const metadata = { name: "c", annotations };
      expect(cellsOf(StorageClass, { ...smallest, metadata })).toMatchObject({ Name: "c (default)" });
    }
  });
});
