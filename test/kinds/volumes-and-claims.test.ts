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
    ["no ways of mounting", { accessModes: [] }, ["spec.accessModes: FieldValueRequired"]],
    ["an unknown way", { accessModes: ["Other"] }, ["spec.accessModes: FieldValueNotSupported"]],
    [
      "the single pod's way beside another",
      { accessModes: ["ReadWriteOncePod", "ReadWriteOnce"] },
      ["spec.accessModes: FieldValueForbidden"],
    ],
    [
      "no capacity",
      { capacity: {} },
      ["spec.capacity: FieldValueRequired", "spec.capacity: FieldValueNotSupported"],
    ],
    ["another capacity", { capacity: { storage: "1", cpu: "1" } }, ["spec.capacity: FieldValueNotSupported"]],
    ["a capacity of nothing", { capacity: { storage: "0" } }, ["spec.capacity[storage]: FieldValueInvalid"]],
    ["no source", { hostPath: undefined }, ["spec: FieldValueRequired"]],
    ["two sources", { nfs: { server: "a", path: "/b" } }, ["spec.nfs: FieldValueForbidden"]],
    [
      "a local disk anywhere",
      { hostPath: undefined, local: { path: "/a" } },
      ["spec.nodeAffinity: FieldValueRequired"],
    ],
    ["a local disk", { hostPath: undefined, local: { path: "/a" }, nodeAffinity }, []],
    ["nodes without conditions", { nodeAffinity: {} }, ["spec.nodeAffinity.required: FieldValueRequired"]],
    [
      "another policy",
      { persistentVolumeReclaimPolicy: "Keep" },
      ["spec.persistentVolumeReclaimPolicy: FieldValueNotSupported"],
    ],
    [
      "a root that would be emptied",
      { hostPath: { path: "/./" }, persistentVolumeReclaimPolicy: "Recycle" },
      ["spec.persistentVolumeReclaimPolicy: FieldValueForbidden"],
    ],
    ["a class", { storageClassName: "A" }, ["spec.storageClassName: FieldValueInvalid"]],
    ["a mode", { volumeMode: "Tape" }, ["spec.volumeMode: FieldValueNotSupported"]],
  ])("rules: %s", (_name, change, faults) => {
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
      "what may change",
      {},
      { capacity: { storage: "2Gi" }, claimRef: { name: "c", namespace: "n" }, nodeAffinity },
      [],
    ],
    [
      "another place",
      {},
      { hostPath: { path: "/other" } },
      ["spec.persistentvolumesource: FieldValueForbidden"],
    ],
    [
      "a secret for growing is filled in",
      { hostPath: undefined, csi },
      { hostPath: undefined, csi: { ...csi, controllerExpandSecretRef: { name: "a", namespace: "b" } } },
      [],
    ],
    ["another mode", {}, { volumeMode: "Block" }, ["volumeMode: FieldValueInvalid"]],
    ["other nodes", zone("a"), zone("b"), ["nodeAffinity: FieldValueInvalid"]],
    ["no nodes any more", zone("a"), {}, ["nodeAffinity: FieldValueInvalid"]],
    [
      "the new name of a label",
      zone("failure-domain.beta.platform.io/zone"),
      zone("topology.platform.io/zone"),
      [],
    ],
    [
      "the old name of a label",
      zone("topology.platform.io/zone"),
      zone("failure-domain.beta.platform.io/zone"),
      ["nodeAffinity: FieldValueInvalid"],
    ],
  ])("changes: %s", (_name, before, now, faults) => {
    expect(judgeUpdate(PersistentVolume, volume(before), volume(now)).faults).toEqual(faults);
  });

  it("the status is written by itself, whatever it says", () => {
    const now = { ...volume({ capacity: { storage: "9Gi" } }), status: { phase: "Odd", reason: "r" } };
    const written = judgeUpdate(PersistentVolume, volume(), now, { subresource: "status" });
    expect(written.faults).toEqual([]);
    expect(written.object).toMatchObject({
      spec: { capacity: { storage: "1Gi" } },
      status: { phase: "Odd", reason: "r" },
    });
    expect(judgeUpdate(PersistentVolume, volume(), now).object["status"]).toEqual({ phase: "Pending" });
  });

  it("warns of what is going away", () => {
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
    ["the older field is copied", { dataSource: source }, [], source, source],
    ["the newer field is copied", { dataSourceRef: custom }, [], custom, custom],
    ["what the older field doesn't know is ignored", { dataSource: custom }, [], undefined, undefined],
    ["another namespace isn't known", { dataSourceRef: far }, [], undefined, undefined],
    ["another namespace is known to the newer field", { dataSourceRef: far }, gates, undefined, far],
    [
      "a snapshot",
      { dataSource: { apiGroup: "snapshot.storage.platform.io", kind: "VolumeSnapshot", name: "s" } },
      [],
      { kind: "VolumeSnapshot" },
      { kind: "VolumeSnapshot" },
    ],
  ])("what it is filled with: %s", (_name, change, enabled, dataSource, dataSourceRef) => {
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
    ["no ways of mounting", { accessModes: [] }, ["spec.accessModes: FieldValueRequired"]],
    ["an unknown way", { accessModes: ["Other"] }, ["spec.accessModes: FieldValueNotSupported"]],
    [
      "the single pod's way beside another",
      { accessModes: ["ReadWriteOncePod", "ReadOnlyMany"] },
      ["spec.accessModes: FieldValueForbidden"],
    ],
    ["no size", { resources: {} }, ["spec.resources[storage]: FieldValueRequired"]],
    ["a size of nothing", size("0"), ["spec.resources[storage]: FieldValueInvalid"]],
    ["a class", { storageClassName: "A" }, ["spec.storageClassName: FieldValueInvalid"]],
    ["no class", { storageClassName: "" }, []],
    ["a mode", { volumeMode: "Tape" }, ["spec.volumeMode: FieldValueNotSupported"]],
    [
      "a selector",
      { selector: { matchExpressions: [{ key: "a", operator: "Like" }] } },
      ["spec.selector.matchExpressions[0].operator: FieldValueInvalid"],
    ],
    [
      "a source without a name",
      { dataSourceRef: { ...source, name: "" }, dataSource: source },
      ["spec.dataSourceRef.name: FieldValueRequired", "spec: FieldValueInvalid"],
    ],
    [
      "another kind of the core group",
      { dataSourceRef: { kind: "Pod", name: "a" }, dataSource: source },
      ["spec.dataSourceRef: FieldValueInvalid", "spec: FieldValueInvalid"],
    ],
    ["sources that differ", { dataSourceRef: custom, dataSource: source }, ["spec: FieldValueInvalid"]],
  ])("rules: %s", (_name, change, faults) => {
    expect(judgeNew(PersistentVolumeClaim, claim(change)).faults).toEqual(faults);
  });

  it("rules of sources in other namespaces", () => {
    const change = { dataSource: source, dataSourceRef: { ...far, namespace: "F" } };
    expect(judgeNew(PersistentVolumeClaim, claim(change), { gates }).faults).toEqual([
      "spec.dataSourceRef.namespace: FieldValueInvalid",
      "spec: FieldValueInvalid",
    ]);
  });

  it.each<[string, object, object, string[]]>([
    ["nothing", {}, {}, []],
    ["the volume is filled in", {}, { volumeName: "v" }, []],
    ["the volume stays", { volumeName: "v" }, { volumeName: "w" }, ["spec: FieldValueForbidden"]],
    ["a missing class is filled in", {}, { storageClassName: "a" }, []],
    ["the class stays", { storageClassName: "a" }, { storageClassName: "b" }, ["spec: FieldValueForbidden"]],
    ["a claim without a volume doesn't grow", {}, size("2Gi"), ["spec: FieldValueForbidden"]],
    [
      "a claim doesn't shrink",
      {},
      size("1Mi"),
      ["spec: FieldValueForbidden", "spec.resources.requests.storage: FieldValueForbidden"],
    ],
    [
      "the mode stays",
      {},
      { volumeMode: "Block" },
      ["spec: FieldValueForbidden", "volumeMode: FieldValueInvalid"],
    ],
    ["a client that doesn't know the newer field", { dataSource: source }, { dataSource: source }, []],
  ])("changes: %s", (_name, before, now, faults) => {
    expect(judgeUpdate(PersistentVolumeClaim, claim(before), claim(now)).faults).toEqual(faults);
  });

  /** A change of a claim that is bound, whose status only the subresource writes. */
  function changeBound(now: object, enabled: readonly string[] = []): readonly string[] {
    const bound = { ...claim(size("5Gi")), status: { phase: "Bound", capacity: { storage: "2Gi" } } };
    const plain = { ...PersistentVolumeClaim, prepareCreate: undefined };
    return judgeUpdate(plain, bound, claim(now), { gates: enabled }).faults;
  }

  it("a bound claim grows, but doesn't shrink", () => {
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

  it("the class moves from the annotation to the field, and the annotation stays", () => {
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

  it("warns of parts of a byte, and of the class in the old place", () => {
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
