import { describe, expect, it } from "vitest";
import { StatefulSet } from "../../src/kinds/apps/stateful-set.ts";
import { cellOf, container, filledTemplate, template, type Part } from "./pod-support.ts";
import { judgeNew, readAs } from "./support.ts";
import {
  selector,
  smallest,
  withSpec,
  withPods,
  validateCreates,
  validateUpdates,
  statusOf,
} from "./apps-support.ts";

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

  it("volumeClaimTemplates get apiVersion, kind and status, and containers can mount them", () => {
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

  it("fields of enabled feature gates get default values", () => {
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
  validateCreates(StatefulSet, [
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
    ["rejects negative replicas", withSpec({ replicas: -1 }), ["spec.replicas: Invalid"]],
    [
      "rejects negative minReadySeconds",
      withSpec({ minReadySeconds: -1 }),
      ["spec.minReadySeconds: Invalid"],
    ],
    [
      "rejects an unknown podManagementPolicy",
      withSpec({ podManagementPolicy: "Random" }),
      ["spec.podManagementPolicy: Invalid"],
    ],
    ["rejects an unknown updateStrategy", update({ type: "Fast" }), [`${u}: Invalid`]],
    [
      "rejects rollingUpdate with strategy OnDelete",
      update({ type: "OnDelete", rollingUpdate: {} }),
      [`${u}.rollingUpdate: Invalid`],
    ],
    [
      "rejects a negative partition",
      update({ type: "RollingUpdate", rollingUpdate: { partition: -1 } }),
      [`${u}.rollingUpdate.partition: Invalid`],
    ],
    [
      "rejects maxUnavailable 0",
      update({ type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0 } }),
      [`${u}.rollingUpdate.maxUnavailable: Invalid`],
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
      "rejects malformed template labels",
      withSpec({ template: { ...template, metadata: { labels: { app: "web", "a b": "c" } } } }),
      ["spec.template.labels: Invalid"],
    ],
    [
      "rejects an unknown whenDeleted policy",
      withSpec({ persistentVolumeClaimRetentionPolicy: { whenDeleted: "Keep" } }),
      ["spec.persistentVolumeClaimRetentionPolicy.whenDeleted: NotSupported"],
    ],
    [
      "rejects a negative ordinals.start",
      withSpec({ ordinals: { start: -1 } }),
      ["spec.ordinals.start: Invalid"],
    ],
    // As in the reference, which doesn't know the volumes of the claims when it validates the template.
    ["accepts a template without containers", withPods({ containers: [] }), []],
  ]);

  validateUpdates(StatefulSet, [
    [
      "accepts changed replicas, minReadySeconds, updateStrategy and template",
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
    ["rejects a changed serviceName", withSpec({}), withSpec({ serviceName: "other" }), ["spec: Forbidden"]],
    [
      "rejects a changed podManagementPolicy",
      withSpec({}),
      withSpec({ podManagementPolicy: "Parallel" }),
      ["spec: Forbidden"],
    ],
    [
      "rejects an added volumeClaimTemplate",
      withSpec({}),
      withSpec({ volumeClaimTemplates: [claim] }),
      ["spec: Forbidden"],
    ],
    [
      "rejects a changed revisionHistoryLimit",
      withSpec({}),
      withSpec({ revisionHistoryLimit: 3 }),
      ["spec: Forbidden"],
    ],
  ]);
  validateUpdates(
    StatefulSet,
    [
      [
        "rejects currentReplicas above replicas",
        statusOf({}),
        statusOf({ replicas: 1, currentReplicas: 2 }),
        ["status.currentReplicas: Invalid"],
      ],
      [
        "rejects availableReplicas above readyReplicas",
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
