import { describe, expect, it } from "vitest";
import { ControllerRevision } from "../../src/kinds/apps/controller-revision.ts";
import { DaemonSet } from "../../src/kinds/apps/daemon-set.ts";
import { Deployment } from "../../src/kinds/apps/deployment.ts";
import { ReplicaSet } from "../../src/kinds/apps/replica-set.ts";
import { StatefulSet } from "../../src/kinds/apps/stateful-set.ts";
import { ReplicationController } from "../../src/kinds/core/replication-controller.ts";
import type { Kind, ViewSubresource } from "../../src/schema/kind.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { cellOf, container, filledSpec, filledTemplate, template, type Part } from "./pod-support.ts";
import { judgeNew, judgeUpdate, readAs } from "./support.ts";

const selector = { matchLabels: { app: "web" } };
/** The smallest object of each kind but replication controllers. */
const smallest = { selector, template };
const withSpec = (part: Part): Part => ({ spec: { ...smallest, ...part } });
const withPods = (spec: Part): Part =>
  withSpec({ template: { ...template, spec: { containers: [container], ...spec } } });

const short = (faults: readonly string[]) => faults.map((fault) => fault.replace("FieldValue", ""));

function refused(
  kind: Kind,
  cases: readonly (readonly [string, Part, readonly string[]])[],
  gates: readonly string[] = [],
) {
  it.each(cases)("%s", (_title, given, faults) => {
    expect(short(judgeNew(kind, given, { gates }).faults)).toEqual(faults);
  });
}

function updates(
  kind: Kind,
  cases: readonly (readonly [title: string, before: Part, now: Part, faults: readonly string[]])[],
  subresource?: string,
) {
  it.each(cases)("%s", (_title, before, now, faults) => {
    const options = subresource === undefined ? {} : { subresource };
    const subject = subresource === undefined ? kind : { ...kind, prepareCreate: undefined };
    expect(short(judgeUpdate(subject, before, now, options).faults)).toEqual(faults);
  });
}

const statusOf = (status: Part): Part => ({ ...withSpec({}), status });

describe("deployments", () => {
  it("the smallest one is completed and passes", () => {
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

  it("its row", () => {
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

describe("replica sets", () => {
  it("the smallest one is completed and passes", () => {
    const { object, faults } = judgeNew(ReplicaSet, withSpec({}));
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({ replicas: 1, selector, template: filledTemplate });
    expect(object["status"]).toEqual({ replicas: 0 });
  });

  refused(ReplicaSet, [
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
      "pods that end",
      withPods({ restartPolicy: "OnFailure" }),
      ["spec.template.spec.restartPolicy: NotSupported"],
    ],
  ]);
  updates(ReplicaSet, [
    [
      "another selector",
      withSpec({}),
      withSpec({ selector: { matchLabels: { app: "db" } } }),
      ["spec.template.metadata.labels: Invalid", "spec.selector: Invalid"],
    ],
  ]);
  updates(
    ReplicaSet,
    [
      [
        "more labelled than there are",
        statusOf({ replicas: 0 }),
        statusOf({ replicas: 1, fullyLabeledReplicas: 2 }),
        ["status.fullyLabeledReplicas: Invalid"],
      ],
    ],
    "status",
  );

  it("its row and selectable field", () => {
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

describe("daemon sets", () => {
  const update = (rollingUpdate: Part) =>
    withSpec({ updateStrategy: { type: "RollingUpdate", rollingUpdate } });
  const u = "spec.updateStrategy.rollingUpdate";

  it("the smallest one is completed and passes", () => {
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

  it("its row", () => {
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

describe("stateful sets", () => {
  const claim = {
    metadata: { name: "data" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  };

  it("the smallest one is completed and passes", () => {
    const { object, faults } = judgeNew(StatefulSet, withSpec({}));
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({
      replicas: 1,
      selector,
      template: filledTemplate,
      serviceName: "",
      podManagementPolicy: "OrderedReady",
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
      revisionHistoryLimit: 10,
    });
    expect(object["status"]).toEqual({ replicas: 0, availableReplicas: 0 });
  });

  it("its claims say what they are, and its pods mount them", () => {
    const mounts = { ...container, volumeMounts: [{ name: "data", mountPath: "/data" }] };
    const given = withSpec({
      template: { ...template, spec: { containers: [mounts] } },
      volumeClaimTemplates: [claim],
    });
    const { object, faults } = judgeNew(StatefulSet, given);
    expect(faults).toEqual([]);
    expect(object).toMatchObject({
      spec: {
        volumeClaimTemplates: [
          { apiVersion: "v1", kind: "PersistentVolumeClaim", ...claim, status: { phase: "Pending" } },
        ],
      },
    });
  });

  it("what gates bring is filled in", () => {
    const gates = ["StatefulSetAutoDeletePVC", "MaxUnavailableStatefulSet"];
    expect(judgeNew(StatefulSet, withSpec({}), { gates }).object).toMatchObject({
      spec: {
        persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
        updateStrategy: { rollingUpdate: { maxUnavailable: 1 } },
      },
    });
  });

  const update = (updateStrategy: Part) => withSpec({ updateStrategy });
  const u = "spec.updateStrategy";
  refused(StatefulSet, [
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
    ["replicas", withSpec({ replicas: -1 }), ["spec.replicas: Invalid"]],
    ["seconds", withSpec({ minReadySeconds: -1 }), ["spec.minReadySeconds: Invalid"]],
    ["order", withSpec({ podManagementPolicy: "Random" }), ["spec.podManagementPolicy: Invalid"]],
    ["strategy", update({ type: "Fast" }), [`${u}: Invalid`]],
    [
      "settings of another strategy",
      update({ type: "OnDelete", rollingUpdate: {} }),
      [`${u}.rollingUpdate: Invalid`],
    ],
    [
      "partition",
      update({ type: "RollingUpdate", rollingUpdate: { partition: -1 } }),
      [`${u}.rollingUpdate.partition: Invalid`],
    ],
    [
      "none missing",
      update({ type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0 } }),
      [`${u}.rollingUpdate.maxUnavailable: Invalid`],
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
    [
      "labels of pods",
      withSpec({ template: { ...template, metadata: { labels: { app: "web", "a b": "c" } } } }),
      ["spec.template.labels: Invalid"],
    ],
    [
      "what becomes of claims",
      withSpec({ persistentVolumeClaimRetentionPolicy: { whenDeleted: "Keep" } }),
      ["spec.persistentVolumeClaimRetentionPolicy.whenDeleted: NotSupported"],
    ],
    ["first number", withSpec({ ordinals: { start: -1 } }), ["spec.ordinals.start: Invalid"]],
    // As in the reference, which can't know their volumes.
    ["pods without containers are taken", withPods({ containers: [] }), []],
  ]);

  updates(StatefulSet, [
    [
      "what may change",
      withSpec({}),
      {
        spec: {
          ...smallest,
          replicas: 3,
          minReadySeconds: 5,
          updateStrategy: { type: "OnDelete" },
          template: { ...template, spec: { containers: [{ ...container, image: "b" }] } },
        },
      },
      [],
    ],
    ["another service", withSpec({}), withSpec({ serviceName: "other" }), ["spec: Forbidden"]],
    ["another order", withSpec({}), withSpec({ podManagementPolicy: "Parallel" }), ["spec: Forbidden"]],
    ["further claims", withSpec({}), withSpec({ volumeClaimTemplates: [claim] }), ["spec: Forbidden"]],
    ["another history", withSpec({}), withSpec({ revisionHistoryLimit: 3 }), ["spec: Forbidden"]],
  ]);
  updates(
    StatefulSet,
    [
      [
        "more current than there are",
        statusOf({}),
        statusOf({ replicas: 1, currentReplicas: 2 }),
        ["status.currentReplicas: Invalid"],
      ],
      [
        "more available than ready",
        statusOf({}),
        statusOf({ replicas: 2, availableReplicas: 1 }),
        ["status.availableReplicas: Invalid"],
      ],
    ],
    "status",
  );

  it("its row", () => {
    const object = readAs(StatefulSet, { ...withSpec({ replicas: 3 }), status: { readyReplicas: 2 } });
    expect(cellOf(StatefulSet, object, "Ready")).toBe("2/3");
  });
});

describe("replication controllers", () => {
  it("the smallest one is completed and passes", () => {
    const { object, faults } = judgeNew(ReplicationController, { spec: { template } });
    expect(faults).toEqual([]);
    expect(object.metadata.labels).toEqual({ app: "web" });
    expect(object["spec"]).toEqual({ replicas: 1, selector: { app: "web" }, template: filledTemplate });
    expect(object["status"]).toEqual({ replicas: 0 });
  });

  it("labels and selector that are given stay", () => {
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

  refused(ReplicationController, [
    ["no template", { spec: { selector: { a: "b" } } }, ["spec.template: Required"]],
    ["no selector", { spec: { template: { spec: filledSpec } } }, ["spec.selector: Required"]],
    [
      "other labels",
      { spec: { selector: { a: "b" }, template } },
      ["spec.template.metadata.labels: Invalid"],
    ],
    ["replicas", { spec: { replicas: -1, template } }, ["spec.replicas: Invalid"]],
    ["seconds", { spec: { minReadySeconds: -1, template } }, ["spec.minReadySeconds: Invalid"]],
    [
      "pods that end",
      { spec: { template: { ...template, spec: { containers: [container], restartPolicy: "Never" } } } },
      ["spec.template.spec.restartPolicy: NotSupported"],
    ],
  ]);
  updates(
    ReplicationController,
    [
      [
        "more ready than there are",
        { spec: { template } },
        { spec: { template }, status: { replicas: 1, readyReplicas: 2 } },
        ["status.readyReplicas: Invalid"],
      ],
    ],
    "status",
  );

  it("its row and selectable field", () => {
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

describe("the scale of what has replicas", () => {
  const expressions = {
    matchLabels: { b: "2" },
    matchExpressions: [
      { key: "a", operator: "In", values: ["y", "x"] },
      { key: "c", operator: "DoesNotExist" },
    ],
  };
  it.each<[kind: Kind, spec: Part, selector: string]>([
    [Deployment, { ...smallest, selector: expressions }, "a in (x,y),b=2,!c"],
    [ReplicaSet, smallest, "app=web"],
    [StatefulSet, smallest, "app=web"],
    [ReplicationController, { template, selector: { b: "2", a: "1" } }, "a=1,b=2"],
  ])("$name", (kind, spec, text) => {
    const scale = kind.subresources["scale"] as ViewSubresource;
    const object = readAs(kind, { spec: { ...spec, replicas: 3 }, status: { replicas: 2 } });
    expect(scale.read(object)).toEqual({ spec: { replicas: 3 }, status: { replicas: 2, selector: text } });
    scale.write(object, { apiVersion: "", kind: "", metadata: {}, spec: { replicas: 7 } });
    expect(object).toMatchObject({ spec: { replicas: 7 } });
    scale.write(object, { apiVersion: "", kind: "", metadata: {}, spec: {} });
    expect(object).toMatchObject({ spec: { replicas: 0 } });
    expect(scale.read(object)).toMatchObject({ spec: {} });
  });
});

describe("controller revisions", () => {
  refused(ControllerRevision, [
    ["all well", { revision: 1, data: { a: 1 } }, []],
    ["no data", { revision: 1 }, ["data: Required"]],
    ["negative", { revision: -1, data: { a: 1 } }, ["revision: Invalid"]],
  ]);
  updates(ControllerRevision, [
    ["another number", { revision: 1, data: { a: 1 } }, { revision: 2, data: { a: 1 } }, []],
    ["other data", { revision: 1, data: { a: 1 } }, { revision: 1, data: { a: 2 } }, ["data: Invalid"]],
  ]);

  it("its row", () => {
    const owner = { apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: "u", controller: true };
    const object = readAs(ControllerRevision, {
      metadata: { name: "r", ownerReferences: [owner] },
      revision: 3,
      data: {},
    });
    expect(cellOf(ControllerRevision, object, "Controller")).toBe("statefulset.apps/web");
    expect(cellOf(ControllerRevision, object, "Revision")).toBe(3);
    expect(cellOf(ControllerRevision, readAs(ControllerRevision, { revision: 1 }), "Controller")).toBe(
      "<none>",
    );
  });
});

describe("warnings of a workload", () => {
  const context = { vocabulary: platform, enabled: () => false, subresource: "" };
  const given = withPods({ nodeSelector: { "beta.platform.io/os": "linux" } });
  const at = (generation: number) => readAs(Deployment, { metadata: { name: "one", generation }, ...given });
  it.each([
    ["a new one", undefined, 1],
    ["a changed one", at(1), 1],
    ["one that stays as it is", at(2), 0],
  ])("%s", (_title, live, count) => {
    const warnings = Deployment.warnings!(at(2), context, live);
    expect(warnings.map((text) => text.slice(0, text.indexOf(": ")))).toEqual(
      Array.from({ length: count }, () => "spec.template.spec.nodeSelector[beta.platform.io/os]"),
    );
  });
});
