import { describe, expect, it } from "vitest";
import { Scale } from "../../src/kinds/autoscaling/scale.ts";
import { cellsOf, judgeNew } from "./support.ts";

describe("Scale", () => {
  it("rejects negative replicas", () => {
    expect(judgeNew(Scale, { spec: { replicas: 0 } }).faults).toEqual([]);
    expect(judgeNew(Scale, { spec: { replicas: -1 } }).faults).toEqual(["spec.replicas: FieldValueInvalid"]);
  });
  it("shows its table cells", () => {
    expect(cellsOf(Scale, { spec: { replicas: 3 }, status: { replicas: 2 } })).toEqual({
      Name: "one",
      Desired: 3,
      Available: 2,
      Age: "<unknown>",
    });
  });
});
