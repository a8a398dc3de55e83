import { describe, expect, it } from "vitest";
import { CSIDriver } from "../../src/kinds/storage/csi-driver.ts";
import { CSINode } from "../../src/kinds/storage/csi-node.ts";
import {
  CSIStorageCapacity,
  CSIStorageCapacityV1beta1,
} from "../../src/kinds/storage/csi-storage-capacity.ts";
import { StorageClass } from "../../src/kinds/storage/storage-class.ts";
import { VolumeAttachment } from "../../src/kinds/storage/volume-attachment.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { cellsOf, judgeNew, judgeUpdate, readAs } from "./support.ts";

const context = { vocabulary: platform, enabled: () => false, subresource: "" };

describe("StorageClass", () => {
  const smallest = { provisioner: "example.com/disk" };
  it("the smallest one and its defaults", () => {
    const { object, faults } = judgeNew(StorageClass, smallest);
    expect(faults).toEqual([]);
    expect(object).toMatchObject({ ...smallest, reclaimPolicy: "Delete", volumeBindingMode: "Immediate" });
    expect(object).not.toHaveProperty("allowVolumeExpansion");
  });

  const topologies = (...terms: object[][]) => ({
    allowedTopologies: terms.map((matchLabelExpressions) => ({ matchLabelExpressions })),
  });
  it.each<[string, object, string[]]>([
    ["no provisioner", { provisioner: "" }, ["provisioner: FieldValueRequired"]],
    ["a provisioner with capitals", { provisioner: "Example.com/Disk" }, []],
    ["a provisioner that is none", { provisioner: "a b" }, ["provisioner: FieldValueInvalid"]],
    ["a policy", { reclaimPolicy: "Keep" }, ["reclaimPolicy: FieldValueNotSupported"]],
    [
      "a policy that only volumes have",
      { reclaimPolicy: "Recycle" },
      ["reclaimPolicy: FieldValueNotSupported"],
    ],
    ["a mode", { volumeBindingMode: "Later" }, ["volumeBindingMode: FieldValueNotSupported"]],
    ["a parameter without a name", { parameters: { "": "a" } }, ["parameters: FieldValueInvalid"]],
    [
      "too many parameters",
      { parameters: Object.fromEntries(Array.from({ length: 513 }, (_, index) => [`p${index}`, ""])) },
      ["parameters: FieldValueTooLong"],
    ],
    [
      "too much in parameters",
      { parameters: { a: "x".repeat(256 * 1024) } },
      ["parameters: FieldValueTooLong"],
    ],
    [
      "topologies",
      topologies(
        [{ key: "a", values: ["b"] }],
        [{ key: "a", values: ["b", "c"] }],
        [{ key: "d", values: ["b"] }],
      ),
      [],
    ],
    [
      "a topology twice",
      topologies([{ key: "a", values: ["b", "c"] }], [{ key: "a", values: ["c", "b"] }]),
      ["allowedTopologies[1].matchLabelExpressions: FieldValueDuplicate"],
    ],
    // As in the reference, which compares it with the places of those that follow.
    [
      "a topology of nothing",
      topologies([]),
      ["allowedTopologies[0].matchLabelExpressions: FieldValueDuplicate"],
    ],
    [
      "what a topology is made of",
      topologies([{ key: "a b", values: ["b", "b"] }, { key: "c" }, { key: "c", values: ["d"] }]),
      [
        "allowedTopologies[0].matchLabelExpressions[0].values[1]: FieldValueDuplicate",
        "allowedTopologies[0].matchLabelExpressions[0].key: FieldValueInvalid",
        "allowedTopologies[0].matchLabelExpressions[1].values: FieldValueRequired",
        "allowedTopologies[0].matchLabelExpressions[2].key: FieldValueDuplicate",
      ],
    ],
  ])("rules: %s", (_name, change, faults) => {
    expect(judgeNew(StorageClass, { ...smallest, ...change }).faults).toEqual(faults);
  });

  it("what stays and what changes", () => {
    expect(
      judgeUpdate(StorageClass, smallest, {
        provisioner: "other",
        parameters: { a: "b" },
        reclaimPolicy: "Retain",
        volumeBindingMode: "WaitForFirstConsumer",
      }).faults,
    ).toEqual([
      "parameters: FieldValueForbidden",
      "provisioner: FieldValueForbidden",
      "reclaimPolicy: FieldValueForbidden",
      "volumeBindingMode: FieldValueInvalid",
    ]);
    const now = { ...smallest, allowVolumeExpansion: true, mountOptions: ["ro"] };
    expect(judgeUpdate(StorageClass, smallest, now).faults).toEqual([]);
  });

  it("warns of old labels", () => {
    const old = topologies([{ key: "failure-domain.beta.platform.io/region", values: ["a"] }]);
    const warn = (change: object) =>
      StorageClass.warnings!(readAs(StorageClass, { ...smallest, ...change }), context, undefined);
    expect(warn({})).toEqual([]);
    expect(warn(old)).toEqual([
      'allowedTopologies[0].matchLabelExpressions[0].key: deprecated since v1.17; use "topology.platform.io/region" instead',
    ]);
  });

  it("cells", () => {
    expect(cellsOf(StorageClass, smallest)).toEqual({
      Name: "one",
      Provisioner: "example.com/disk",
      ReclaimPolicy: "Delete",
      VolumeBindingMode: "Immediate",
      AllowVolumeExpansion: false,
      Age: "<unknown>",
    });
    for (const prefix of ["storageclass", "storageclass.beta"]) {
      const annotations = { [`${prefix}.platform.io/is-default-class`]: "true" };
      const metadata = { name: "c", annotations };
      expect(cellsOf(StorageClass, { ...smallest, metadata })).toMatchObject({ Name: "c (default)" });
    }
  });
});

describe("CSIDriver", () => {
  it("has a name like most kinds: its metadata is checked as such", () => {
    expect(CSIDriver.nameForm ?? "subdomain").toBe("subdomain");
    expect(judgeNew(CSIDriver, { metadata: { name: "a".repeat(64) } }).faults).toEqual([]);
  });

  it("has no generation until nodes have to follow a change, which makes the next one", () => {
    const context = { vocabulary: platform, enabled: () => false, subresource: "" };
    const generationAfter = (generation: number | undefined, before: object, now: object) => {
      const live = readAs(CSIDriver, { metadata: { name: "d", generation }, spec: before });
      const copy = readAs(CSIDriver, { metadata: { name: "d", generation }, spec: now });
      CSIDriver.prepareUpdate?.(copy, live, context);
      return copy.metadata.generation;
    };
    const tokens = { tokenRequests: [{ audience: "a" }] };
    expect(generationAfter(undefined, {}, {})).toBeUndefined();
    expect(generationAfter(undefined, {}, tokens)).toBe(1);
    expect(generationAfter(4, tokens, { ...tokens, requiresRepublish: true })).toBe(5);
    expect(generationAfter(4, tokens, tokens)).toBe(4);
  });

  it("the smallest one and its defaults", () => {
    const { object, faults } = judgeNew(CSIDriver, { metadata: { name: "d.example.com" } });
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({
      attachRequired: true,
      podInfoOnMount: false,
      volumeLifecycleModes: ["Persistent"],
      storageCapacity: false,
      fsGroupPolicy: "ReadWriteOnceWithFSType",
      requiresRepublish: false,
    });
    const gates = ["SELinuxMountReadWriteOncePod"];
    expect(judgeNew(CSIDriver, {}, { gates }).object["spec"]).toMatchObject({ seLinuxMount: false });
  });

  it.each<[string, object, string[]]>([
    [
      "choices",
      { spec: { volumeLifecycleModes: ["Persistent", "Odd"], fsGroupPolicy: "Odd" } },
      ["spec.volumeLifecycleModes: FieldValueNotSupported", "spec.fsGroupPolicy: FieldValueNotSupported"],
    ],
    [
      "tokens",
      {
        spec: {
          tokenRequests: [
            { audience: "", expirationSeconds: 600 },
            { audience: "", expirationSeconds: 599 },
            { audience: "a", expirationSeconds: 2 ** 32 + 1 },
          ],
        },
      },
      [
        "spec.tokenRequests[1].audience: FieldValueDuplicate",
        "spec.tokenRequests[1].expirationSeconds: FieldValueInvalid",
        "spec.tokenRequests[2].expirationSeconds: FieldValueInvalid",
      ],
    ],
  ])("rules: %s", (_name, value, faults) => {
    expect(judgeNew(CSIDriver, value).faults).toEqual(faults);
  });

  it("what stays and what changes", () => {
    const other = {
      attachRequired: false,
      podInfoOnMount: true,
      fsGroupPolicy: "File",
      volumeLifecycleModes: ["Ephemeral"],
      storageCapacity: true,
      requiresRepublish: true,
      tokenRequests: [{ audience: "a" }],
    };
    expect(judgeUpdate(CSIDriver, {}, { spec: other }).faults).toEqual(
      ["attachedRequired", "fsGroupPolicy", "podInfoOnMount", "volumeLifecycleModes"].map(
        (name) => `spec.${name}: FieldValueInvalid`,
      ),
    );
  });

  it("cells", () => {
    expect(cellsOf(CSIDriver, {})).toEqual({
      Name: "one",
      AttachRequired: true,
      PodInfoOnMount: false,
      StorageCapacity: false,
      TokenRequests: "<unset>",
      RequiresRepublish: false,
      Modes: "Persistent",
      Age: "<unknown>",
    });
    const spec = {
      tokenRequests: [{ audience: "a" }, { audience: "b" }],
      volumeLifecycleModes: ["Persistent", "Ephemeral"],
    };
    expect(cellsOf(CSIDriver, { spec })).toMatchObject({
      TokenRequests: "a,b",
      Modes: "Persistent,Ephemeral",
    });
  });
});

describe("CSINode", () => {
  const driver = { name: "d.example.com", nodeID: "n", topologyKeys: ["a/b"], allocatable: { count: 0 } };
  it.each<[string, object[], string[]]>([
    ["none", [], []],
    ["one", [driver], []],
    [
      "one without anything",
      [{}],
      [
        "spec.drivers[0].name: FieldValueInvalid",
        "spec.drivers[0].name: FieldValueRequired",
        "spec.drivers[0].nodeID: FieldValueRequired",
      ],
    ],
    [
      "what a driver is made of",
      [{ name: "a_b", nodeID: "n".repeat(257), allocatable: { count: -1 } }],
      [
        "spec.drivers[0].allocatable.count: FieldValueInvalid",
        "spec.drivers[0].name: FieldValueInvalid",
        "spec.drivers[0].nodeID: FieldValueInvalid",
      ],
    ],
    ["one twice", [driver, driver], ["spec.drivers[1].name: FieldValueDuplicate"]],
    [
      "keys",
      [{ ...driver, topologyKeys: ["a", "a", "b c"] }],
      ["spec.drivers[0]: FieldValueDuplicate", "spec.drivers[0]: FieldValueInvalid"],
    ],
  ])("rules: %s", (_name, drivers, faults) => {
    expect(judgeNew(CSINode, { spec: { drivers } }).faults.toSorted()).toEqual(faults);
  });

  it("drivers come and go, but don't change", () => {
    const change = (...drivers: object[]) =>
      judgeUpdate(CSINode, { spec: { drivers: [driver] } }, { spec: { drivers } }).faults;
    expect(change()).toEqual([]);
    expect(change({ ...driver, name: "e" }, driver)).toEqual([]);
    expect(change({ ...driver, nodeID: "m" })).toEqual(["CSINodeDriver: FieldValueInvalid"]);
  });

  it("cells", () => {
    expect(cellsOf(CSINode, { spec: { drivers: [driver] } })).toMatchObject({ Drivers: 1 });
    expect(cellsOf(CSINode, {})).toMatchObject({ Drivers: 0 });
  });
});

describe.each([
  ["v1", CSIStorageCapacity],
  ["v1beta1", CSIStorageCapacityV1beta1],
])("CSIStorageCapacity %s", (version, kind) => {
  const smallest = { storageClassName: "fast" };
  it.each<[string, object, string[]]>([
    ["the smallest one", smallest, []],
    ["no class", {}, ["storageClassName: FieldValueInvalid"]],
    [
      "amounts",
      { ...smallest, capacity: "-1", maximumVolumeSize: "-1" },
      ["capacity: FieldValueInvalid", "maximumVolumeSize: FieldValueInvalid"],
    ],
    [
      "nodes",
      { ...smallest, nodeTopology: { matchExpressions: [{ key: "a", operator: "Like" }] } },
      ["nodeTopology.matchExpressions[0].operator: FieldValueInvalid"],
    ],
  ])("rules: %s", (_name, value, faults) => {
    expect(judgeNew(kind, value).faults).toEqual(faults);
  });

  it("class and nodes stay, amounts change", () => {
    const now = { storageClassName: "slow", nodeTopology: {}, capacity: "1Gi" };
    expect(judgeUpdate(kind, smallest, now).faults).toEqual([
      "nodeTopology: FieldValueInvalid",
      "storageClassName: FieldValueInvalid",
    ]);
  });

  it("cells", () => {
    expect(cellsOf(kind, smallest)).toEqual({ Name: "one", StorageClassName: "fast", Capacity: "<unset>" });
    expect(cellsOf(kind, { ...smallest, capacity: "1Gi" })).toMatchObject({ Capacity: "1Gi" });
  });

  it("is stored as v1", () => {
    expect(kind.version).toBe(version);
    expect(kind.conversion?.stored()).toBe(version === "v1" ? undefined : CSIStorageCapacity);
  });
});

describe("VolumeAttachment", () => {
  const spec = { attacher: "d.example.com", nodeName: "n", source: { persistentVolumeName: "v" } };
  const inline = { accessModes: ["ReadWriteOnce"], csi: { driver: "d.example.com", volumeHandle: "h" } };
  it("the smallest one; the status isn't the creator's", () => {
    const { object, faults } = judgeNew(VolumeAttachment, { spec, status: { attached: true } });
    expect(faults).toEqual([]);
    expect(object["status"]).toEqual({ attached: false });
  });

  const source = (value: object) => ({ ...spec, source: value });
  it.each<[string, object, string[]]>([
    [
      "nothing",
      {},
      [
        "spec.attacher: FieldValueInvalid",
        "spec.attacher: FieldValueRequired",
        "spec.attacher: FieldValueRequired",
        "spec.nodeName: FieldValueInvalid",
        "spec.source: FieldValueRequired",
      ],
    ],
    [
      "names",
      { attacher: "a_b", nodeName: "N", source: { persistentVolumeName: "V" } },
      ["attacher", "nodeName", "source.persistentVolumeName"].map(
        (name) => `spec.${name}: FieldValueInvalid`,
      ),
    ],
    [
      "two volumes",
      source({ persistentVolumeName: "v", inlineVolumeSpec: inline }),
      ["spec.source: FieldValueForbidden"],
    ],
    [
      "a volume without a name",
      source({ persistentVolumeName: "" }),
      [
        "spec.source.persistentVolumeName: FieldValueInvalid",
        "spec.source.persistentVolumeName: FieldValueRequired",
      ],
    ],
    ["a volume in line", source({ inlineVolumeSpec: inline }), []],
    [
      "what a volume in line doesn't have",
      source({
        inlineVolumeSpec: {
          accessModes: ["ReadWriteOnce"],
          hostPath: { path: "/a" },
          capacity: { storage: "1" },
          claimRef: {},
          storageClassName: "a",
          volumeMode: "Block",
          persistentVolumeReclaimPolicy: "Delete",
          nodeAffinity: {},
        },
      }),
      [
        "capacity: FieldValueForbidden",
        "claimRef: FieldValueForbidden",
        "csi: FieldValueRequired",
        "nodeAffinity: FieldValueForbidden",
        "persistentVolumeReclaimPolicy: FieldValueForbidden",
        "storageClassName: FieldValueForbidden",
        "volumeMode: FieldValueForbidden",
      ].map((fault) => `spec.source.inlineVolumeSpec.${fault}`),
    ],
  ])("rules: %s", (_name, value, faults) => {
    expect(judgeNew(VolumeAttachment, { spec: value }).faults.toSorted()).toEqual(faults);
  });

  it("stays as it is", () => {
    const now = { spec: { ...spec, nodeName: "m" } };
    expect(judgeUpdate(VolumeAttachment, { spec }, { spec }).faults).toEqual([]);
    expect(judgeUpdate(VolumeAttachment, { spec }, now).faults).toEqual(["spec: FieldValueInvalid"]);
  });

  it("the status is written by itself, within limits", () => {
    const message = "x".repeat(1025);
    const status = {
      attached: true,
      attachmentMetadata: { "": "a" },
      attachError: { message },
      detachError: { message },
    };
    const { object, faults } = judgeUpdate(
      VolumeAttachment,
      { spec },
      { spec: { ...spec, nodeName: "m" }, status },
      { subresource: "status" },
    );
    expect(object).toMatchObject({ spec, status: { attached: true } });
    expect(faults).toEqual([
      "status.attachmentMetadata: FieldValueInvalid",
      "status.attachError.message: FieldValueTooLong",
      "status.detachError.message: FieldValueTooLong",
    ]);
    expect(judgeUpdate(VolumeAttachment, { spec }, { spec, status }).object["status"]).toEqual({
      attached: false,
    });
  });

  it("cells", () => {
    expect(cellsOf(VolumeAttachment, { spec, status: { attached: true } })).toEqual({
      Name: "one",
      Attacher: "d.example.com",
      PV: "v",
      Node: "n",
      Attached: true,
      Age: "<unknown>",
    });
    expect(cellsOf(VolumeAttachment, { spec: source({ inlineVolumeSpec: inline }) })).toMatchObject({
      PV: "",
      Attached: false,
    });
  });
});
