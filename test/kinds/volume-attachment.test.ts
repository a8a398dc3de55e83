import { describe, expect, it } from "vitest";
import { VolumeAttachment } from "../../src/kinds/storage/volume-attachment.ts";
import { cellsOf, judgeNew, judgeUpdate } from "./support.ts";

describe("VolumeAttachment", () => {
  const spec = { attacher: "d.example.com", nodeName: "n", source: { persistentVolumeName: "v" } };
  const inline = { accessModes: ["ReadWriteOnce"], csi: { driver: "d.example.com", volumeHandle: "h" } };
  it("a minimal object is valid, and the status of the request is ignored", () => {
    const { object, faults } = judgeNew(VolumeAttachment, { spec, status: { attached: true } });
    expect(faults).toEqual([]);
    expect(object["status"]).toEqual({ attached: false });
  });

  const source = (value: object) => ({ ...spec, source: value });
  it.each<[string, object, string[]]>([
    [
      "rejects an empty spec",
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
      "rejects malformed names",
      { attacher: "a_b", nodeName: "N", source: { persistentVolumeName: "V" } },
      ["attacher", "nodeName", "source.persistentVolumeName"].map(
        (name) => `spec.${name}: FieldValueInvalid`,
      ),
    ],
    [
      "rejects both persistentVolumeName and inlineVolumeSpec",
      source({ persistentVolumeName: "v", inlineVolumeSpec: inline }),
      ["spec.source: FieldValueForbidden"],
    ],
    [
      "rejects an empty persistentVolumeName",
      source({ persistentVolumeName: "" }),
      [
        "spec.source.persistentVolumeName: FieldValueInvalid",
        "spec.source.persistentVolumeName: FieldValueRequired",
      ],
    ],
    ["accepts an inlineVolumeSpec", source({ inlineVolumeSpec: inline }), []],
    [
      "rejects an inlineVolumeSpec with unsupported fields and without csi",
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
  ])("%s", (_name, value, faults) => {
    expect(judgeNew(VolumeAttachment, { spec: value }).faults.toSorted()).toEqual(faults);
  });

  it("spec is immutable", () => {
    const now = { spec: { ...spec, nodeName: "m" } };
    expect(judgeUpdate(VolumeAttachment, { spec }, { spec }).faults).toEqual([]);
    expect(judgeUpdate(VolumeAttachment, { spec }, now).faults).toEqual(["spec: FieldValueInvalid"]);
  });

  it("the status subresource changes only the status, and validates its lengths", () => {
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

  it("shows its table cells", () => {
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
