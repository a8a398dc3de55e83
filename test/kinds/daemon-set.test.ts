import { describe, expect, it } from "vitest";
import { DaemonSet } from "../../src/kinds/apps/daemon-set.ts";
import { cellOf, filledTemplate, template, type Part } from "./pod-support.ts";
import { judgeNew, judgeUpdate, readAs } from "./support.ts";
import { selector, withSpec, withPods, refused, updates, statusOf } from "./apps-support.ts";

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

  refused(DaemonSet, [
    // The reference takes an absent selector for one that selects nothing.
    ["no selector", { spec: { template } }, ["spec.template.metadata.labels: Invalid"]],
    ["empty selector", withSpec({ selector: {} }), ["spec.selector: Invalid"]],
    [
      "other labels",
      withSpec({ selector: { matchLabels: { app: "db" } } }),
      ["spec.template.metadata.labels: Invalid"],
    ],
    [
      "pods that end",
      withPods({ restartPolicy: "Never" }),
      ["spec.template.spec.restartPolicy: NotSupported"],
    ],
    [
      "a disk that several write",
      withPods({ volumes: [{ name: "v", gcePersistentDisk: { pdName: "p" } }] }),
      ["spec.template.spec.volumes[0].GCEPersistentDisk.readOnly: Invalid"],
    ],
    ["strategy", withSpec({ updateStrategy: { type: "Fast" } }), ["spec.updateStrategy: NotSupported"]],
    ["missing and too many", update({ maxUnavailable: 1, maxSurge: 1 }), [`${u}.maxSurge: Invalid`]],
    ["neither", update({ maxUnavailable: 0 }), [`${u}.maxUnavailable: Required`]],
    ["more than all", update({ maxUnavailable: "101%" }), [`${u}.maxUnavailable: Invalid`]],
    ["too many only", update({ maxUnavailable: 0, maxSurge: "10%" }), []],
    ["history", withSpec({ revisionHistoryLimit: -1 }), ["spec.revisionHistoryLimit: Invalid"]],
  ]);
  updates(DaemonSet, [
    [
      "another selector",
      withSpec({}),
      withSpec({ selector: { matchExpressions: [{ key: "app", operator: "Exists" }] } }),
      ["spec.selector: Invalid"],
    ],
  ]);
  updates(
    DaemonSet,
    [
      [
        "fewer collisions",
        statusOf({ collisionCount: 1 }),
        statusOf({ collisionCount: 0 }),
        ["status.collisionCount: Invalid"],
      ],
    ],
    "status",
  );

  it("its templates are counted in an annotation", () => {
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
