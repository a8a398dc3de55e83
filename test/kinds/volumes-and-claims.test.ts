import { describe, expect, it } from "vitest";
import { PersistentVolumeClaim } from "../../src/kinds/core/persistent-volume-claim.ts";
import { PersistentVolume } from "../../src/kinds/core/persistent-volume.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { cellsOf, judgeNew, judgeUpdate, readAs } from "./support.ts";

const context = { vocabulary: platform, enabled: () => false, subresource: "" };
const classKey = "volume.beta.platform.io/storage-class";

const volumeSpec = {
  capacity: { storage: "1Gi" },
  accessModes: ["ReadWriteOnce"],
  hostPath: { path: "/data" },
};
const volume = (change: object = {}, metadata: object = {}) => ({
  metadata: { name: "v", ...metadata },
  spec: { ...volumeSpec, ...change },
});

describe("PersistentVolume", () => {
  it("a minimal object is valid, and the status of the request is ignored", () => {
    const { object, faults } = judgeNew(PersistentVolume, { ...volume(), status: { phase: "Bound" } });
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({
      capacity: { storage: "1Gi" },
      hostPath: { path: "/data", type: "" },
      accessModes: ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: "Retain",
      volumeMode: "Filesystem",
    });
    expect(object["status"]).toEqual({ phase: "Pending" });
    expect(readAs(PersistentVolume, volume({ capacity: { storage: "1u" } }))["spec"]).toMatchObject({
      capacity: { storage: "1m" },
    });
  });

  const nodeAffinity = {
    required: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "In", values: ["b"] }] }],
    },
  };
  it.each<[string, object, string[]]>([
    ["rejects empty accessModes", { accessModes: [] }, ["spec.accessModes: FieldValueRequired"]],
    ["rejects access mode Other", { accessModes: ["Other"] }, ["spec.accessModes: FieldValueNotSupported"]],
    [
      "rejects ReadWriteOncePod together with another access mode",
      { accessModes: ["ReadWriteOncePod", "ReadWriteOnce"] },
      ["spec.accessModes: FieldValueForbidden"],
    ],
    [
      "rejects an empty capacity",
      { capacity: {} },
      ["spec.capacity: FieldValueRequired", "spec.capacity: FieldValueNotSupported"],
    ],
    [
      "rejects a capacity of cpu",
      { capacity: { storage: "1", cpu: "1" } },
      ["spec.capacity: FieldValueNotSupported"],
    ],
    ["rejects capacity 0", { capacity: { storage: "0" } }, ["spec.capacity[storage]: FieldValueInvalid"]],
    ["rejects a missing volume source", { hostPath: undefined }, ["spec: FieldValueRequired"]],
    ["rejects two volume sources", { nfs: { server: "a", path: "/b" } }, ["spec.nfs: FieldValueForbidden"]],
    [
      "rejects a local volume without nodeAffinity",
      { hostPath: undefined, local: { path: "/a" } },
      ["spec.nodeAffinity: FieldValueRequired"],
    ],
    ["accepts local with nodeAffinity", { hostPath: undefined, local: { path: "/a" }, nodeAffinity }, []],
    [
      "rejects nodeAffinity without required terms",
      { nodeAffinity: {} },
      ["spec.nodeAffinity.required: FieldValueRequired"],
    ],
    [
      "rejects an unknown persistentVolumeReclaimPolicy",
      { persistentVolumeReclaimPolicy: "Keep" },
      ["spec.persistentVolumeReclaimPolicy: FieldValueNotSupported"],
    ],
    [
      "rejects reclaim policy Recycle for the root folder",
      { hostPath: { path: "/./" }, persistentVolumeReclaimPolicy: "Recycle" },
      ["spec.persistentVolumeReclaimPolicy: FieldValueForbidden"],
    ],
    ["rejects storageClassName A", { storageClassName: "A" }, ["spec.storageClassName: FieldValueInvalid"]],
    ["rejects an unknown volumeMode", { volumeMode: "Tape" }, ["spec.volumeMode: FieldValueNotSupported"]],
  ])("%s", (_name, change, faults) => {
    expect(judgeNew(PersistentVolume, volume(change)).faults).toEqual(faults);
  });

  const csi = { driver: "d.example.com", volumeHandle: "h" };
  const zone = (key: string) => ({
    nodeAffinity: {
      required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: "In", values: ["b"] }] }] },
    },
  });
  it.each<[string, object, object, string[]]>([
    [
      "a changed capacity, claimRef and first nodeAffinity are allowed",
      {},
      { capacity: { storage: "2Gi" }, claimRef: { name: "c", namespace: "n" }, nodeAffinity },
      [],
    ],
    [
      "a changed volume source is rejected",
      {},
      { hostPath: { path: "/other" } },
      ["spec.persistentvolumesource: FieldValueForbidden"],
    ],
    [
      "setting controllerExpandSecretRef is allowed",
      { hostPath: undefined, csi },
      { hostPath: undefined, csi: { ...csi, controllerExpandSecretRef: { name: "a", namespace: "b" } } },
      [],
    ],
    ["a changed volumeMode is rejected", {}, { volumeMode: "Block" }, ["volumeMode: FieldValueInvalid"]],
    ["a changed nodeAffinity is rejected", zone("a"), zone("b"), ["nodeAffinity: FieldValueInvalid"]],
    ["removing nodeAffinity is rejected", zone("a"), {}, ["nodeAffinity: FieldValueInvalid"]],
    [
      "replacing a deprecated topology label by its successor is allowed",
      zone("failure-domain.beta.platform.io/zone"),
      zone("topology.platform.io/zone"),
      [],
    ],
    [
      "replacing a topology label by its deprecated form is rejected",
      zone("topology.platform.io/zone"),
      zone("failure-domain.beta.platform.io/zone"),
      ["nodeAffinity: FieldValueInvalid"],
    ],
  ])("update: %s", (_name, before, now, faults) => {
    expect(judgeUpdate(PersistentVolume, volume(before), volume(now)).faults).toEqual(faults);
  });

  it("the status subresource changes only the status, and accepts any phase", () => {
    const now = { ...volume({ capacity: { storage: "9Gi" } }), status: { phase: "Odd", reason: "r" } };
    const written = judgeUpdate(PersistentVolume, volume(), now, { subresource: "status" });
    expect(written.faults).toEqual([]);
    expect(written.object).toMatchObject({
      spec: { capacity: { storage: "1Gi" } },
      status: { phase: "Odd", reason: "r" },
    });
    expect(judgeUpdate(PersistentVolume, volume(), now).object["status"]).toEqual({ phase: "Pending" });
  });

  it("returns warnings for deprecated labels, reclaim policy, annotation and volume source", () => {
    const warn = (change: object, metadata: object = {}) =>
      PersistentVolume.warnings!(readAs(PersistentVolume, volume(change, metadata)), context, undefined);
    expect(warn({})).toEqual([]);
    expect(warn(zone("beta.platform.io/os"))).toEqual([
      'spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: deprecated since v1.14; use "platform.io/os" instead',
    ]);
    expect(warn({ persistentVolumeReclaimPolicy: "Recycle" })).toHaveLength(1);
    expect(warn({}, { annotations: { [classKey]: "a" } })).toHaveLength(1);
    expect(warn({ glusterfs: { endpoints: "a", path: "b" } })).toEqual([
      "spec.glusterfs: deprecated in v1.25, non-functional in v1.26+",
    ]);
  });

  it("shows its table cells", () => {
    const spec = {
      accessModes: ["ReadWriteMany", "ReadWriteOnce", "ReadWriteOnce"],
      claimRef: { namespace: "n", name: "c" },
      storageClassName: "fast",
    };
    const metadata = { name: "v", creationTimestamp: "2023-12-31T23:58:00Z" };
    expect(
      cellsOf(PersistentVolume, { ...volume(spec), metadata, status: { phase: "Failed", reason: "r" } }),
    ).toEqual({
      Name: "v",
      Capacity: "1Gi",
      "Access Modes": "RWO,RWX",
      "Reclaim Policy": "Retain",
      Status: "Failed",
      Claim: "n/c",
      StorageClass: "fast",
      Reason: "r",
      Age: "2m",
      VolumeMode: "Filesystem",
    });
    expect(
      cellsOf(PersistentVolume, {
        metadata: { deletionTimestamp: "2023-12-31T23:58:00Z", annotations: { [classKey]: "old" } },
      }),
    ).toMatchObject({ Capacity: "0", Status: "Terminating", Claim: "", StorageClass: "old" });
  });
});

const claimSpec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
const claim = (change: object = {}, metadata: object = {}) => ({
  metadata: { name: "c", ...metadata },
  spec: { ...claimSpec, ...change },
});
const size = (storage: string) => ({ resources: { requests: { storage } } });

describe("PersistentVolumeClaim", () => {
  it("a minimal object is valid, and the status of the request is ignored", () => {
    const { object, faults } = judgeNew(PersistentVolumeClaim, { ...claim(), status: { phase: "Bound" } });
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({ ...claimSpec, volumeMode: "Filesystem" });
    expect(object["status"]).toEqual({ phase: "Pending" });
  });

  const source = { apiGroup: null, kind: "PersistentVolumeClaim", name: "other" };
  const custom = { apiGroup: "example.com", kind: "Backup", name: "b" };
  const far = { kind: "PersistentVolumeClaim", name: "other", namespace: "far" };
  const gates = ["CrossNamespaceVolumeDataSource"];
  it.each<[string, object, string[], object | undefined, object | undefined]>([
    ["dataSource is copied to dataSourceRef", { dataSource: source }, [], source, source],
    ["dataSourceRef is copied to dataSource", { dataSourceRef: custom }, [], custom, custom],
    ["an unsupported kind in dataSource is dropped", { dataSource: custom }, [], undefined, undefined],
    ["a namespace is dropped without its feature gate", { dataSourceRef: far }, [], undefined, undefined],
    ["a namespace is kept with its feature gate", { dataSourceRef: far }, gates, undefined, far],
    [
      "a VolumeSnapshot in dataSource is copied to dataSourceRef",
      { dataSource: { apiGroup: "snapshot.storage.platform.io", kind: "VolumeSnapshot", name: "s" } },
      [],
      { kind: "VolumeSnapshot" },
      { kind: "VolumeSnapshot" },
    ],
  ])("data source: %s", (_name, change, enabled, dataSource, dataSourceRef) => {
    const { object, faults } = judgeNew(PersistentVolumeClaim, claim(change), { gates: enabled });
    expect(faults).toEqual([]);
    const spec = object["spec"] as Record<string, unknown>;
    const matched = (expected: object | undefined) =>
      expected ? expect.objectContaining(expected) : undefined;
    expect([spec["dataSource"], spec["dataSourceRef"]]).toEqual([
      matched(dataSource),
      matched(dataSourceRef),
    ]);
  });

  it.each<[string, object, string[]]>([
    ["rejects empty accessModes", { accessModes: [] }, ["spec.accessModes: FieldValueRequired"]],
    ["rejects access mode Other", { accessModes: ["Other"] }, ["spec.accessModes: FieldValueNotSupported"]],
    [
      "rejects ReadWriteOncePod together with another access mode",
      { accessModes: ["ReadWriteOncePod", "ReadOnlyMany"] },
      ["spec.accessModes: FieldValueForbidden"],
    ],
    ["rejects a missing storage request", { resources: {} }, ["spec.resources[storage]: FieldValueRequired"]],
    ["rejects a storage request of 0", size("0"), ["spec.resources[storage]: FieldValueInvalid"]],
    ["rejects storageClassName A", { storageClassName: "A" }, ["spec.storageClassName: FieldValueInvalid"]],
    ["accepts an empty storageClassName", { storageClassName: "" }, []],
    ["rejects an unknown volumeMode", { volumeMode: "Tape" }, ["spec.volumeMode: FieldValueNotSupported"]],
    [
      "rejects a malformed selector",
      { selector: { matchExpressions: [{ key: "a", operator: "Like" }] } },
      ["spec.selector.matchExpressions[0].operator: FieldValueInvalid"],
    ],
    [
      "rejects a dataSourceRef without a name",
      { dataSourceRef: { ...source, name: "" }, dataSource: source },
      ["spec.dataSourceRef.name: FieldValueRequired", "spec: FieldValueInvalid"],
    ],
    [
      "rejects an unsupported core kind in dataSourceRef",
      { dataSourceRef: { kind: "Pod", name: "a" }, dataSource: source },
      ["spec.dataSourceRef: FieldValueInvalid", "spec: FieldValueInvalid"],
    ],
    ["rejects different sources", { dataSourceRef: custom, dataSource: source }, ["spec: FieldValueInvalid"]],
  ])("%s", (_name, change, faults) => {
    expect(judgeNew(PersistentVolumeClaim, claim(change)).faults).toEqual(faults);
  });

  it("rejects a malformed dataSourceRef.namespace together with a dataSource", () => {
    const change = { dataSource: source, dataSourceRef: { ...far, namespace: "F" } };
    expect(judgeNew(PersistentVolumeClaim, claim(change), { gates }).faults).toEqual([
      "spec.dataSourceRef.namespace: FieldValueInvalid",
      "spec: FieldValueInvalid",
    ]);
  });

  it.each<[string, object, object, string[]]>([
    ["an unchanged spec is accepted", {}, {}, []],
    ["setting volumeName is allowed", {}, { volumeName: "v" }, []],
    ["volumeName is immutable", { volumeName: "v" }, { volumeName: "w" }, ["spec: FieldValueForbidden"]],
    ["setting an absent storageClassName is allowed", {}, { storageClassName: "a" }, []],
    [
      "storageClassName is immutable once set",
      { storageClassName: "a" },
      { storageClassName: "b" },
      ["spec: FieldValueForbidden"],
    ],
    [
      "increasing the request of an unbound claim is rejected",
      {},
      size("2Gi"),
      ["spec: FieldValueForbidden"],
    ],
    [
      "decreasing the request is rejected",
      {},
      size("1Mi"),
      ["spec: FieldValueForbidden", "spec.resources.requests.storage: FieldValueForbidden"],
    ],
    [
      "a changed volumeMode is rejected",
      {},
      { volumeMode: "Block" },
      ["spec: FieldValueForbidden", "volumeMode: FieldValueInvalid"],
    ],
    ["an update without dataSourceRef is accepted", { dataSource: source }, { dataSource: source }, []],
  ])("update: %s", (_name, before, now, faults) => {
    expect(judgeUpdate(PersistentVolumeClaim, claim(before), claim(now)).faults).toEqual(faults);
  });

  /** Validates an update of a bound claim, and returns the errors. Only the status subresource can set the phase `Bound`. */
  function changeBound(now: object, enabled: readonly string[] = []): readonly string[] {
    const bound = { ...claim(size("5Gi")), status: { phase: "Bound", capacity: { storage: "2Gi" } } };
    const plain = { ...PersistentVolumeClaim, prepareCreate: undefined };
    return judgeUpdate(plain, bound, claim(now), { gates: enabled }).faults;
  }

  it("the request of a bound claim can increase; with RecoverVolumeExpansionFailure it can decrease, but not to the capacity", () => {
    expect(changeBound(size("6Gi"))).toEqual([]);
    const place = "spec.resources.requests.storage";
    expect(changeBound(size("3Gi"))).toEqual([`${place}: FieldValueForbidden`]);
    expect(changeBound(size("3Gi"), ["RecoverVolumeExpansionFailure"])).toEqual([]);
    expect(changeBound(size("2Gi"), ["RecoverVolumeExpansionFailure"])).toEqual([
      `${place}: FieldValueForbidden`,
    ]);
    expect(changeBound({ ...size("6Gi"), accessModes: ["ReadOnlyMany"] })).toEqual([
      "spec: FieldValueForbidden",
    ]);
  });

  it("storageClassName can be set to the class of the annotation, whose value is immutable", () => {
    const named = { annotations: { [classKey]: "a" } };
    const change = (now: object, metadata: object) =>
      judgeUpdate(PersistentVolumeClaim, claim({}, named), claim(now, metadata)).faults;
    expect(change({ storageClassName: "a" }, named)).toEqual([]);
    expect(change({ storageClassName: "a" }, {})).toEqual([]);
    expect(change({ storageClassName: "b" }, named)).toEqual(["spec: FieldValueForbidden"]);
    expect(change({}, { annotations: { [classKey]: "b" } })).toEqual([
      `metadata.annotations.${classKey}: FieldValueInvalid`,
    ]);
  });

  it("the status subresource changes only the status", () => {
    const status = {
      phase: "Bound",
      capacity: { storage: "-1" },
      allocatedResources: { storage: "-1", cpu: "1" },
    };
    const now = { ...claim(size("9Gi")), status };
    const { object, faults } = judgeUpdate(PersistentVolumeClaim, claim(), now, { subresource: "status" });
    expect(object).toMatchObject({ spec: claimSpec, status });
    expect(faults).toEqual([
      "status.capacity[storage]: FieldValueInvalid",
      "status.allocatedResources[storage]: FieldValueInvalid",
      "status.allocatedResources: FieldValueNotSupported",
    ]);
  });

  it("returns warnings for a fractional byte count and for the class annotation", () => {
    const old = claim({}, { annotations: { [classKey]: "a" } });
    const warnings = PersistentVolumeClaim.warnings!(readAs(PersistentVolumeClaim, old), context, undefined);
    expect(warnings).toEqual([
      `metadata.annotations[${classKey}]: deprecated since v1.8; use "storageClassName" instead`,
    ]);
    const warn = (storage: string) =>
      PersistentVolumeClaim.warnings!(
        readAs(PersistentVolumeClaim, claim(size(storage))),
        context,
        undefined,
      );
    expect(warn("1Gi")).toEqual([]);
    expect(warn("1500m")).toHaveLength(1);
  });

  it("shows its table cells", () => {
    const metadata = { name: "c", creationTimestamp: "2023-12-31T23:58:00Z" };
    const status = { phase: "Bound", capacity: { storage: "2Gi" }, accessModes: ["ReadWriteOncePod"] };
    const bound = { metadata, spec: { ...claimSpec, volumeName: "v", storageClassName: "fast" }, status };
    expect(cellsOf(PersistentVolumeClaim, bound)).toEqual({
      Name: "c",
      Status: "Bound",
      Volume: "v",
      Capacity: "2Gi",
      "Access Modes": "RWOP",
      StorageClass: "fast",
      Age: "2m",
      VolumeMode: "Filesystem",
    });
    expect(cellsOf(PersistentVolumeClaim, { metadata, spec: claimSpec, status })).toMatchObject({
      Volume: "",
      Capacity: "",
      "Access Modes": "",
      StorageClass: "",
    });
    expect(cellsOf(PersistentVolumeClaim, { spec: { volumeName: "v" } })).toMatchObject({
      Status: "Pending",
      Capacity: "0",
    });
  });
});
