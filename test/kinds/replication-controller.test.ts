import { describe, expect, it } from "vitest";
import { ReplicationController } from "../../src/kinds/core/replication-controller.ts";
import { cellOf, container, filledSpec, filledTemplate, template } from "./pod-support.ts";
import { judgeNew, readAs } from "./support.ts";
import { validateCreates, validateUpdates } from "./apps-support.ts";

describe("replication controllers", () => {
  it("a minimal object gets its defaults and is valid", () => {
    const { object, faults } = judgeNew(ReplicationController, { spec: { template } });
    expect(faults).toEqual([]);
    expect(object.metadata.labels).toEqual({ app: "web" });
    expect(object["spec"]).toEqual({ replicas: 1, selector: { app: "web" }, template: filledTemplate });
    expect(object["status"]).toEqual({ replicas: 0 });
  });

  it("keeps the labels and selector of the request", () => {
    const { object } = judgeNew(ReplicationController, {
      metadata: { labels: { own: "x" } },
      spec: {
        selector: { app: "web" },
        template: { ...template, metadata: { labels: { app: "web", b: "c" } } },
      },
    });
    expect(object.metadata.labels).toEqual({ own: "x" });
    expect(object["spec"]).toMatchObject({ selector: { app: "web" } });
  });

  validateCreates(ReplicationController, [
    ["rejects a missing template", { spec: { selector: { a: "b" } } }, ["spec.template: Required"]],
    [
      "rejects a template without labels and no selector",
      { spec: { template: { spec: filledSpec } } },
      ["spec.selector: Required"],
    ],
    [
      "rejects template labels that the selector doesn't match",
      { spec: { selector: { a: "b" }, template } },
      ["spec.template.metadata.labels: Invalid"],
    ],
    ["rejects negative replicas", { spec: { replicas: -1, template } }, ["spec.replicas: Invalid"]],
    [
      "rejects negative minReadySeconds",
      { spec: { minReadySeconds: -1, template } },
      ["spec.minReadySeconds: Invalid"],
    ],
    [
      "rejects restartPolicy Never",
      { spec: { template: { ...template, spec: { containers: [container], restartPolicy: "Never" } } } },
      ["spec.template.spec.restartPolicy: NotSupported"],
    ],
  ]);
  validateUpdates(
    ReplicationController,
    [
      [
        "rejects readyReplicas above replicas",
        { spec: { template } },
        { spec: { template }, status: { replicas: 1, readyReplicas: 2 } },
        ["status.readyReplicas: Invalid"],
      ],
    ],
    "status",
  );

  it("shows its table cells and supports the field selector status.replicas", () => {
    const object = readAs(ReplicationController, {
      spec: { replicas: 3, template },
      status: { replicas: 2, readyReplicas: 1 },
    });
    const cells = ["Desired", "Current", "Ready", "Containers", "Images", "Selector"];
    expect(cells.map((name) => cellOf(ReplicationController, object, name))).toEqual([
      3,
      2,
      1,
      "main",
      "example/app:1.0",
      "app=web",
    ]);
    expect(ReplicationController.selectable["status.replicas"]!(object)).toBe("2");
  });
});
