import { describe, expect, it } from "vitest";
import { ReplicaSet } from "../../src/kinds/apps/replica-set.ts";
import { cellOf, filledTemplate, template } from "./pod-support.ts";
import { judgeNew, readAs } from "./support.ts";
import { selector, withSpec, withPods, validateCreates, validateUpdates, statusOf } from "./apps-support.ts";

describe("replica sets", () => {
  it("a minimal object gets its defaults and is valid", () => {
    const { object, faults } = judgeNew(ReplicaSet, withSpec({}));
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({ replicas: 1, selector, template: filledTemplate });
    expect(object["status"]).toEqual({ replicas: 0 });
  });

  validateCreates(ReplicaSet, [
    ["rejects negative replicas", withSpec({ replicas: -1 }), ["spec.replicas: Invalid"]],
    [
      "rejects an absent selector",
      { spec: { template } },
      ["spec.template.metadata.labels: Invalid", "spec.selector: Required"],
    ],
    ["rejects an empty selector", withSpec({ selector: {} }), ["spec.selector: Invalid"]],
    [
      "rejects template labels that the selector doesn't match",
      withSpec({ selector: { matchLabels: { app: "db" } } }),
      ["spec.template.metadata.labels: Invalid"],
    ],
    [
      "rejects restartPolicy OnFailure",
      withPods({ restartPolicy: "OnFailure" }),
      ["spec.template.spec.restartPolicy: NotSupported"],
    ],
  ]);
  validateUpdates(ReplicaSet, [
    [
      "rejects a changed selector",
      withSpec({}),
      withSpec({ selector: { matchLabels: { app: "db" } } }),
      ["spec.template.metadata.labels: Invalid", "spec.selector: Invalid"],
    ],
  ]);
  validateUpdates(
    ReplicaSet,
    [
      [
        "rejects fullyLabeledReplicas above replicas",
        statusOf({ replicas: 0 }),
        statusOf({ replicas: 1, fullyLabeledReplicas: 2 }),
        ["status.fullyLabeledReplicas: Invalid"],
      ],
    ],
    "status",
  );

  it("shows its table cells and supports the field selector status.replicas", () => {
    const object = readAs(ReplicaSet, {
      ...withSpec({ replicas: 3 }),
      status: { replicas: 2, readyReplicas: 1 },
    });
    const cells = ["Desired", "Current", "Ready", "Containers", "Images", "Selector"];
    expect(cells.map((name) => cellOf(ReplicaSet, object, name))).toEqual([
      3,
      2,
      1,
      "main",
      "example/app:1.0",
      "app=web",
    ]);
    expect(cellOf(ReplicaSet, readAs(ReplicaSet, {}), "Selector")).toBe("<none>");
    expect(ReplicaSet.selectable["status.replicas"]!(object)).toBe("2");
  });
});
