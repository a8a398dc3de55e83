import { describe, expect, it } from "vitest";
import { CSINode } from "../../src/kinds/storage/csi-node.ts";
import { cellsOf, judgeNew, judgeUpdate } from "./support.ts";

describe("CSINode", () => {
  const driver = { name: "d.example.com", nodeID: "n", topologyKeys: ["a/b"], allocatable: { count: 0 } };
  it.each<[string, object[], string[]]>([
    ["accepts an empty list of drivers", [], []],
    ["accepts a driver", [driver], []],
    [
      "rejects an empty driver",
      [{}],
      [
        "spec.drivers[0].name: FieldValueInvalid",
        "spec.drivers[0].name: FieldValueRequired",
        "spec.drivers[0].nodeID: FieldValueRequired",
      ],
    ],
    [
      "rejects a malformed name, a nodeID above 256 characters and a negative count",
      [{ name: "a_b", nodeID: "n".repeat(257), allocatable: { count: -1 } }],
      [
        "spec.drivers[0].allocatable.count: FieldValueInvalid",
        "spec.drivers[0].name: FieldValueInvalid",
        "spec.drivers[0].nodeID: FieldValueInvalid",
      ],
    ],
    ["rejects a duplicate driver name", [driver, driver], ["spec.drivers[1].name: FieldValueDuplicate"]],
    [
      "rejects duplicate and malformed topologyKeys",
      [{ ...driver, topologyKeys: ["a", "a", "b c"] }],
      ["spec.drivers[0]: FieldValueDuplicate", "spec.drivers[0]: FieldValueInvalid"],
    ],
  ])("%s", (_name, drivers, faults) => {
    expect(judgeNew(CSINode, { spec: { drivers } }).faults.toSorted()).toEqual(faults);
  });

  it("drivers can be added and removed, but are immutable", () => {
    const change = (...drivers: object[]) =>
      judgeUpdate(CSINode, { spec: { drivers: [driver] } }, { spec: { drivers } }).faults;
    expect(change()).toEqual([]);
    expect(change({ ...driver, name: "e" }, driver)).toEqual([]);
    expect(change({ ...driver, nodeID: "m" })).toEqual(["CSINodeDriver: FieldValueInvalid"]);
  });

  it("shows its table cells", () => {
    expect(cellsOf(CSINode, { spec: { drivers: [driver] } })).toMatchObject({ Drivers: 1 });
    expect(cellsOf(CSINode, {})).toMatchObject({ Drivers: 0 });
  });
});
