import { describe, expect, it } from "vitest";
import { Deployment } from "../../src/kinds/apps/deployment.ts";
import { cellOf, container, filledTemplate, template, type Part } from "./pod-support.ts";
import { judgeNew, readAs } from "./support.ts";
import { selector, withSpec, withPods, validateCreates, validateUpdates, statusOf } from "./apps-support.ts";

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
  validateCreates(Deployment, [
    ["accepts 0 replicas", withSpec({ replicas: 0 }), []],
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
      "rejects a malformed selector",
      withSpec({ selector: { matchExpressions: [{ key: "a", operator: "Like" }] } }),
      ["spec.selector.matchExpressions[0].operator: Invalid", "spec.selector: Invalid"],
    ],
    [
      "rejects restartPolicy Never",
      withPods({ restartPolicy: "Never" }),
      ["spec.template.spec.restartPolicy: NotSupported"],
    ],
    [
      "rejects activeDeadlineSeconds in the template",
      withPods({ activeDeadlineSeconds: 5 }),
      ["spec.template.spec.activeDeadlineSeconds: Forbidden"],
    ],
    [
      "rejects a template without containers",
      withPods({ containers: [] }),
      ["spec.template.spec.containers: Required"],
    ],
    [
      "rejects a writable gcePersistentDisk with two replicas",
      withSpec({
        replicas: 2,
        template: {
          ...template,
          spec: { containers: [container], volumes: [{ name: "v", gcePersistentDisk: { pdName: "p" } }] },
        },
      }),
      ["spec.template.spec.volumes[0].GCEPersistentDisk.readOnly: Invalid"],
    ],
    [
      "rejects negative minReadySeconds",
      withSpec({ minReadySeconds: -1 }),
      ["spec.minReadySeconds: Invalid"],
    ],
    [
      "rejects a negative revisionHistoryLimit",
      withSpec({ revisionHistoryLimit: -1 }),
      ["spec.revisionHistoryLimit: Invalid"],
    ],
    [
      "rejects a progressDeadlineSeconds that is not above minReadySeconds",
      withSpec({ progressDeadlineSeconds: 5, minReadySeconds: 5 }),
      ["spec.progressDeadlineSeconds: Invalid"],
    ],
    [
      "rejects an unknown strategy",
      withSpec({ strategy: { type: "Fast" } }),
      ["spec.strategy: NotSupported"],
    ],
    [
      "rejects rollingUpdate with strategy Recreate",
      withSpec({ strategy: { type: "Recreate", rollingUpdate: {} } }),
      [`${s}: Forbidden`],
    ],
    [
      "rejects both maxUnavailable and maxSurge of 0",
      strategy({ maxUnavailable: 0, maxSurge: "0%" }),
      [`${s}.maxUnavailable: Invalid`],
    ],
    [
      "rejects a malformed maxUnavailable",
      strategy({ maxUnavailable: "some", maxSurge: 1 }),
      [`${s}.maxUnavailable: Invalid`],
    ],
    [
      "rejects maxUnavailable above 100%",
      strategy({ maxUnavailable: "101%" }),
      [`${s}.maxUnavailable: Invalid`],
    ],
    ["accepts maxSurge above 100%", strategy({ maxSurge: "200%" }), []],
    ["rejects a negative maxSurge", strategy({ maxSurge: -1 }), [`${s}.maxSurge: Invalid`]],
  ]);

  validateUpdates(Deployment, [
    [
      "rejects a changed selector",
      withSpec({}),
      withSpec({ selector: { matchExpressions: [{ key: "app", operator: "Exists" }] } }),
      ["spec.selector: Invalid"],
    ],
    ["accepts changed replicas", withSpec({}), withSpec({ replicas: 3 }), []],
  ]);

  validateUpdates(
    Deployment,
    [
      [
        "accepts valid counts in the status",
        statusOf({}),
        statusOf({ replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 1 }),
        [],
      ],
      [
        "rejects a negative observedGeneration",
        statusOf({}),
        statusOf({ observedGeneration: -1 }),
        ["status.observedGeneration: Invalid"],
      ],
      [
        "rejects readyReplicas above replicas",
        statusOf({}),
        statusOf({ replicas: 1, readyReplicas: 2 }),
        ["status.readyReplicas: Invalid"],
      ],
      [
        "rejects availableReplicas above readyReplicas",
        statusOf({}),
        statusOf({ replicas: 2, availableReplicas: 1 }),
        ["status.availableReplicas: Invalid"],
      ],
      [
        "rejects a decreased collisionCount",
        statusOf({ collisionCount: 2 }),
        statusOf({ collisionCount: 1 }),
        ["status.collisionCount: Invalid"],
      ],
      [
        "rejects a removed collisionCount",
        statusOf({ collisionCount: 2 }),
        statusOf({}),
        ["status.collisionCount: Invalid"],
      ],
    ],
    "status",
  );

  it("the generation depends on the spec and the annotations, but not on the status", () => {
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
