import { describe, expect, it } from "vitest";
import { CSIDriver } from "../../src/kinds/storage/csi-driver.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { cellsOf, judgeNew, judgeUpdate, readAs } from "./support.ts";

describe("CSIDriver", () => {
  it("accepts a DNS subdomain of more than 63 characters as its name", () => {
    expect(CSIDriver.nameForm ?? "subdomain").toBe("subdomain");
    expect(judgeNew(CSIDriver, { metadata: { name: "a".repeat(64) } }).faults).toEqual([]);
  });

  it("increments its generation when tokenRequests or requiresRepublish changes, and keeps it without a change", () => {
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

  it("a minimal object gets its defaults and is valid", () => {
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
      "rejects unknown volumeLifecycleModes and fsGroupPolicy",
      { spec: { volumeLifecycleModes: ["Persistent", "Odd"], fsGroupPolicy: "Odd" } },
      ["spec.volumeLifecycleModes: FieldValueNotSupported", "spec.fsGroupPolicy: FieldValueNotSupported"],
    ],
    [
      "rejects duplicate audiences and an expirationSeconds out of range in tokenRequests",
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
  ])("%s", (_name, value, faults) => {
    expect(judgeNew(CSIDriver, value).faults).toEqual(faults);
  });

  it("attachRequired, fsGroupPolicy, podInfoOnMount and volumeLifecycleModes are immutable", () => {
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

  it("shows its table cells", () => {
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
