import { describe, expect, it } from "vitest";
import { Deployment } from "../../src/kinds/apps/deployment.ts";
import { cellOf, container, filledTemplate, template, type Part } from "./pod-support.ts";
import { judgeNew, readAs } from "./support.ts";
import { selector, withSpec, withPods, refused, updates, statusOf } from "./apps-support.ts";

describe("deployments", () => {
  it("a minimal object gets its defaults and is valid", () => {
    const { object, faults } = judgeNew(Deployment, { ...withSpec({}), status: { replicas: 4 } });
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({
      replicas: 1,
      selector,
      template: filledTemplate,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    });
    expect(object["status"]).toEqual({});
  });

  const strategy = (rollingUpdate: Part) => withSpec({ strategy: { rollingUpdate } });
  const s = "spec.strategy.rollingUpdate";
  refused(Deployment, [
    ["no replicas are a number too", withSpec({ replicas: 0 }), []],
    ["replicas", withSpec({ replicas: -1 }), ["spec.replicas: Invalid"]],
    [
      "no selector",
      { spec: { template } },
      ["spec.template.metadata.labels: Invalid", "spec.selector: Required"],
    ],
    ["empty selector", withSpec({ selector: {} }), ["spec.selector: Invalid"]],
    [
      "other labels",
      withSpec({ selector: { matchLabels: { app: "db" } } }),
      ["spec.template.metadata.labels: Invalid"],
    ],
    [
      "faults of the selector",
      withSpec({ selector: { matchExpressions: [{ key: "a", operator: "Like" }] } }),
      ["spec.selector.matchExpressions[0].operator: Invalid", "spec.selector: Invalid"],
    ],
    [
      "pods that end",
      withPods({ restartPolicy: "Never" }),
      ["spec.template.spec.restartPolicy: NotSupported"],
    ],
    [
      "pods with a deadline",
      withPods({ activeDeadlineSeconds: 5 }),
      ["spec.template.spec.activeDeadlineSeconds: Forbidden"],
    ],
    ["pods without containers", withPods({ containers: [] }), ["spec.template.spec.containers: Required"]],
    [
      "a disk that several write",
      withSpec({
        replicas: 2,
        template: {
          ...template,
          spec: { containers: [container], volumes: [{ name: "v", gcePersistentDisk: { pdName: "p" } }] },
        },
      }),
      ["spec.template.spec.volumes[0].GCEPersistentDisk.readOnly: Invalid"],
    ],
    ["seconds", withSpec({ minReadySeconds: -1 }), ["spec.minReadySeconds: Invalid"]],
    ["history", withSpec({ revisionHistoryLimit: -1 }), ["spec.revisionHistoryLimit: Invalid"]],
    [
      "deadline",
      withSpec({ progressDeadlineSeconds: 5, minReadySeconds: 5 }),
      ["spec.progressDeadlineSeconds: Invalid"],
    ],
    ["strategy", withSpec({ strategy: { type: "Fast" } }), ["spec.strategy: NotSupported"]],
    [
      "settings of another strategy",
      withSpec({ strategy: { type: "Recreate", rollingUpdate: {} } }),
      [`${s}: Forbidden`],
    ],
    [
      "nothing may be missing or too many",
      strategy({ maxUnavailable: 0, maxSurge: "0%" }),
      [`${s}.maxUnavailable: Invalid`],
    ],
    ["no share", strategy({ maxUnavailable: "some", maxSurge: 1 }), [`${s}.maxUnavailable: Invalid`]],
    ["more than all are missing", strategy({ maxUnavailable: "101%" }), [`${s}.maxUnavailable: Invalid`]],
    ["more than all are too many", strategy({ maxSurge: "200%" }), []],
    ["a negative count", strategy({ maxSurge: -1 }), [`${s}.maxSurge: Invalid`]],
  ]);

  updates(Deployment, [
    [
      "another selector",
      withSpec({}),
      withSpec({ selector: { matchExpressions: [{ key: "app", operator: "Exists" }] } }),
      ["spec.selector: Invalid"],
    ],
    ["another number", withSpec({}), withSpec({ replicas: 3 }), []],
  ]);

  updates(
    Deployment,
    [
      [
        "all well",
        statusOf({}),
        statusOf({ replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 1 }),
        [],
      ],
      [
        "negative",
        statusOf({}),
        statusOf({ observedGeneration: -1 }),
        ["status.observedGeneration: Invalid"],
      ],
      [
        "more ready than there are",
        statusOf({}),
        statusOf({ replicas: 1, readyReplicas: 2 }),
        ["status.readyReplicas: Invalid"],
      ],
      [
        "more available than ready",
        statusOf({}),
        statusOf({ replicas: 2, availableReplicas: 1 }),
        ["status.availableReplicas: Invalid"],
      ],
      [
        "fewer collisions",
        statusOf({ collisionCount: 2 }),
        statusOf({ collisionCount: 1 }),
        ["status.collisionCount: Invalid"],
      ],
      ["no collisions", statusOf({ collisionCount: 2 }), statusOf({}), ["status.collisionCount: Invalid"]],
    ],
    "status",
  );

  it("its generation counts the spec and the annotations", () => {
    const before = readAs(Deployment, withSpec({}));
    const generation = (change: Part) =>
      Deployment.generationOf!(readAs(Deployment, { ...withSpec({}), ...change }));
    expect(generation({ status: { replicas: 3 } })).toEqual(Deployment.generationOf!(before));
    expect(generation({ metadata: { annotations: { a: "b" } } })).not.toEqual(
      Deployment.generationOf!(before),
    );
    expect(generation(withSpec({ replicas: 3 }))).not.toEqual(Deployment.generationOf!(before));
  });

  it("shows its table cells", () => {
    const object = readAs(Deployment, {
      ...withSpec({ replicas: 3 }),
      status: { readyReplicas: 2, updatedReplicas: 1, availableReplicas: 1 },
    });
    const cells = ["Ready", "Up-to-date", "Available", "Containers", "Images", "Selector"];
    expect(cells.map((name) => cellOf(Deployment, object, name))).toEqual([
      "2/3",
      1,
      1,
      "main",
      "example/app:1.0",
      "app=web",
    ]);
    expect(cellOf(Deployment, readAs(Deployment, {}), "Selector")).toBe("");
    const broken = readAs(
      Deployment,
      withSpec({ selector: { matchExpressions: [{ key: "a", operator: "Like" }] } }),
    );
    expect(cellOf(Deployment, broken, "Selector")).toBe("<invalid>");
  });
});
