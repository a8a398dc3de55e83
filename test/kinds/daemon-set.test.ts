import { describe, expect, it } from "vitest";
import { DaemonSet } from "../../src/kinds/apps/daemon-set.ts";
import { cellOf, filledTemplate, template, type Part } from "./pod-support.ts";
import { judgeNew, judgeUpdate, readAs } from "./support.ts";
import { selector, withSpec, withPods, validateCreates, validateUpdates, statusOf } from "./apps-support.ts";

describe("daemon sets", () => {
  const update = (rollingUpdate: Part) =>
    withSpec({ updateStrategy: { type: "RollingUpdate", rollingUpdate } });
  const u = "spec.updateStrategy.rollingUpdate";

  it("a minimal object gets its defaults and is valid", () => {
    const { object, faults } = judgeNew(DaemonSet, withSpec({}));
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({
      selector,
      template: filledTemplate,
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
      revisionHistoryLimit: 10,
    });
    expect(object["status"]).toEqual({
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      desiredNumberScheduled: 0,
      numberReady: 0,
    });
  });

  validateCreates(DaemonSet, [
    // As in the reference, an absent selector matches no labels.
    ["rejects an absent selector", { spec: { template } }, ["spec.template.metadata.labels: Invalid"]],
    ["rejects an empty selector", withSpec({ selector: {} }), ["spec.selector: Invalid"]],
    [
      "rejects template labels that the selector doesn't match",
      withSpec({ selector: { matchLabels: { app: "db" } } }),
      ["spec.template.metadata.labels: Invalid"],
    ],
    [
      "rejects restartPolicy Never",
      withPods({ restartPolicy: "Never" }),
      ["spec.template.spec.restartPolicy: NotSupported"],
    ],
    [
      "rejects a writable gcePersistentDisk",
      withPods({ volumes: [{ name: "v", gcePersistentDisk: { pdName: "p" } }] }),
      ["spec.template.spec.volumes[0].GCEPersistentDisk.readOnly: Invalid"],
    ],
    [
      "rejects an unknown updateStrategy",
      withSpec({ updateStrategy: { type: "Fast" } }),
      ["spec.updateStrategy: NotSupported"],
    ],
    [
      "rejects both maxUnavailable and maxSurge",
      update({ maxUnavailable: 1, maxSurge: 1 }),
      [`${u}.maxSurge: Invalid`],
    ],
    [
      "rejects neither maxUnavailable nor maxSurge",
      update({ maxUnavailable: 0 }),
      [`${u}.maxUnavailable: Required`],
    ],
    [
      "rejects maxUnavailable above 100%",
      update({ maxUnavailable: "101%" }),
      [`${u}.maxUnavailable: Invalid`],
    ],
    ["accepts maxSurge only", update({ maxUnavailable: 0, maxSurge: "10%" }), []],
    [
      "rejects a negative revisionHistoryLimit",
      withSpec({ revisionHistoryLimit: -1 }),
      ["spec.revisionHistoryLimit: Invalid"],
    ],
  ]);
  validateUpdates(DaemonSet, [
    [
      "rejects a changed selector",
      withSpec({}),
      withSpec({ selector: { matchExpressions: [{ key: "app", operator: "Exists" }] } }),
      ["spec.selector: Invalid"],
    ],
  ]);
  validateUpdates(
    DaemonSet,
    [
      [
        "rejects a decreased collisionCount",
        statusOf({ collisionCount: 1 }),
        statusOf({ collisionCount: 0 }),
        ["status.collisionCount: Invalid"],
      ],
    ],
    "status",
  );

  it("the annotation template.generation is incremented when the template changes", () => {
    const annotation = (object: { metadata: { annotations?: Record<string, string> } }) =>
      object.metadata.annotations?.["deprecated.daemonset.template.generation"];
    expect(annotation(judgeNew(DaemonSet, withSpec({})).object)).toBe("1");
    expect(annotation(judgeUpdate(DaemonSet, withSpec({}), withSpec({ minReadySeconds: 3 })).object)).toBe(
      "1",
    );
    expect(annotation(judgeUpdate(DaemonSet, withSpec({}), withPods({ hostPID: true })).object)).toBe("2");
  });

  it("shows its table cells", () => {
    const status = {
      desiredNumberScheduled: 5,
      currentNumberScheduled: 4,
      numberReady: 3,
      updatedNumberScheduled: 2,
      numberAvailable: 1,
    };
    const object = readAs(DaemonSet, { ...withPods({ nodeSelector: { b: "2", a: "1" } }), status });
    const cells = ["Desired", "Current", "Ready", "Up-to-date", "Available", "Node Selector", "Selector"];
    expect(cells.map((name) => cellOf(DaemonSet, object, name))).toEqual([
      5,
      4,
      3,
      2,
      1,
      "a=1,b=2",
      "app=web",
    ]);
  });
});
