import { describe, expect, it } from "vitest";
import { StatefulSet } from "../../src/kinds/apps/stateful-set.ts";
import { cellOf, container, filledTemplate, template, type Part } from "./pod-support.ts";
import { judgeNew, readAs } from "./support.ts";
import { selector, smallest, withSpec, withPods, refused, updates, statusOf } from "./apps-support.ts";

describe("stateful sets", () => {
  const claim = {
    metadata: { name: "data" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  };

  it("a minimal object gets its defaults and is valid", () => {
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

  it("volume claim templates get apiVersion, kind and status, and pods can mount them", () => {
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

  it("fields of enabled feature gates get defaults", () => {
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

  it("shows its table cells", () => {
    const object = readAs(StatefulSet, { ...withSpec({ replicas: 3 }), status: { readyReplicas: 2 } });
    expect(cellOf(StatefulSet, object, "Ready")).toBe("2/3");
  });
});
