import { describe, expect, it } from "vitest";
import { APIService } from "../../src/kinds/apiregistration/api-service.ts";
import { StorageVersion } from "../../src/kinds/internal-apiserver/storage-version.ts";
import { PodScheduling } from "../../src/kinds/resource/pod-scheduling.ts";
import { ResourceClaimTemplate } from "../../src/kinds/resource/resource-claim-template.ts";
import { ResourceClaim } from "../../src/kinds/resource/resource-claim.ts";
import { ResourceClass } from "../../src/kinds/resource/resource-class.ts";
import type { Kind } from "../../src/schema/kind.ts";
import type { Part } from "./pod-support.ts";
import { cellsOf, judgeNew, judgeUpdate, readAs } from "./support.ts";

const short = (faults: readonly string[]) => faults.map((fault) => fault.replace("FieldValue", ""));
const judge = (kind: Kind, given: Part) => short(judgeNew(kind, given).faults);
const judgeStatus = (kind: Kind, object: Part, now: Part, before: Part = {}) => {
  const live = readAs(kind, { ...object, status: before });
  const keep = { ...kind, prepareCreate: undefined };
  return short(judgeUpdate(keep, live, { ...object, status: now }, { subresource: "status" }).faults);
};

describe("APIService", () => {
  const metadata = { name: "v1.example.com", creationTimestamp: "2024-01-01T00:00:00Z" };
  const service = { namespace: "a", name: "b" };
  const withSpec = (part: Part): Part => ({
    metadata,
    spec: { group: "example.com", version: "v1", groupPriorityMinimum: 100, versionPriority: 10, ...part },
  });

  it("a local APIService has the condition Available from its creation, and the port of a service defaults to 443", () => {
    const { object, faults } = judgeNew(APIService, withSpec({}));
    expect(faults).toEqual([]);
    expect(object["status"]).toEqual({
      conditions: [
        {
          type: "Available",
          status: "True",
          lastTransitionTime: "2024-01-01T00:00:00Z",
          reason: "Local",
          message: "Local APIServices are always available",
        },
      ],
    });
    expect(judgeNew(APIService, withSpec({ service }))).toMatchObject({
      faults: [],
      object: { spec: { service: { ...service, port: 443 } }, status: {} },
    });
  });

  it.each([
    [
      "accepts the core group",
      { metadata: { name: "v1." }, spec: { version: "v1", groupPriorityMinimum: 1, versionPriority: 1 } },
      [],
    ],
    [
      "rejects a name that is not version.group",
      { ...withSpec({}), metadata: { name: "x" } },
      ["metadata.name: Invalid"],
    ],
    [
      "rejects an empty group",
      { ...withSpec({ group: "", version: "v2" }), metadata: { name: "v2." } },
      ["spec.group: Required"],
    ],
    [
      "rejects a malformed group and version",
      { ...withSpec({ group: "A", version: "V" }), metadata: { name: "V.A" } },
      ["spec.group: Invalid", "spec.version: Invalid"],
    ],
    [
      "rejects priorities of 0",
      withSpec({ groupPriorityMinimum: 0, versionPriority: 0 }),
      ["spec.groupPriorityMinimum: Invalid", "spec.versionPriority: Invalid"],
    ],
    [
      "rejects priorities above the maximum",
      withSpec({ groupPriorityMinimum: 20_001, versionPriority: 1001 }),
      ["spec.groupPriorityMinimum: Invalid", "spec.versionPriority: Invalid"],
    ],
    [
      "rejects caBundle and insecureSkipTLSVerify without a service",
      withSpec({ caBundle: "AAAA", insecureSkipTLSVerify: true }),
      ["spec.caBundle: Invalid", "spec.insecureSkipTLSVerify: Invalid"],
    ],
    [
      "rejects both caBundle and insecureSkipTLSVerify",
      withSpec({ service, caBundle: "AAAA", insecureSkipTLSVerify: true }),
      ["spec.insecureSkipTLSVerify: Invalid"],
    ],
    [
      "rejects an empty service",
      withSpec({ service: { port: 0 } }),
      ["spec.service.namespace: Required", "spec.service.name: Required", "spec.service.port: Invalid"],
    ],
  ])("%s", (_title, given, faults) => {
    expect(judge(APIService, given)).toEqual(faults);
  });

  it("rejects an unknown condition status", () => {
    const status = { conditions: [{ type: "Available", status: "Maybe" }] };
    expect(judgeStatus(APIService, withSpec({ service }), status)).toEqual([
      "status.conditions[0].status: NotSupported",
    ]);
  });

  it("shows its table cells", () => {
    const row = (part: Part, conditions: readonly Part[]) =>
      cellsOf(APIService, { ...withSpec(part), status: { conditions } });
    expect(row({}, [{ type: "Available", status: "True", reason: "Local" }])).toMatchObject({
      Name: "v1.example.com",
      Service: "Local",
      Available: "True",
    });
    expect(row({ service }, [{ type: "Available", status: "False", reason: "Gone" }])).toMatchObject({
      Service: "a/b",
      Available: "False (Gone)",
    });
    expect(row({ service }, [])).toMatchObject({ Available: "Unknown" });
  });
});

describe("StorageVersion", () => {
  const named = (name: string): Part => ({ metadata: { name } });
  const server = { apiServerID: "a", encodingVersion: "apps/v1", decodableVersions: ["apps/v1", "v1"] };

  it.each([
    ["apps.deployments", []],
    ["x.example.com.widgets", []],
    ["deployments", ["metadata.name: Invalid"]],
    ["A.b", ["metadata.name: Invalid"]],
    ["a.B", ["metadata.name: Invalid"]],
  ])("validates the name %s: %j", (name, faults) => {
    expect(judge(StorageVersion, named(name))).toEqual(faults);
  });

  it.each([
    ["accepts one server", { storageVersions: [server], commonEncodingVersion: "apps/v1" }, []],
    ["accepts no servers", {}, []],
    ["rejects no commonEncodingVersion", { storageVersions: [server] }, [".commonEncodingVersion: Invalid"]],
    [
      "rejects a commonEncodingVersion although the servers differ",
      {
        storageVersions: [server, { ...server, apiServerID: "b", encodingVersion: "v1" }],
        commonEncodingVersion: "v1",
      },
      [".commonEncodingVersion: Invalid"],
    ],
    [
      "rejects a duplicate apiServerID",
      { storageVersions: [server, server], commonEncodingVersion: "apps/v1" },
      [".storageVersions[1].apiServerID: Duplicate"],
    ],
    [
      "rejects an encodingVersion that is not in decodableVersions",
      { storageVersions: [{ ...server, decodableVersions: ["v1"] }], commonEncodingVersion: "apps/v1" },
      [".storageVersions[0].decodableVersions: Invalid"],
    ],
    [
      "rejects malformed versions",
      {
        storageVersions: [{ apiServerID: "A", encodingVersion: "a/b/c", decodableVersions: ["a/b/c", "V"] }],
        commonEncodingVersion: "a/b/c",
      },
      [
        ".storageVersions[0].apiServerID: Invalid",
        ".storageVersions[0].decodableVersions[0]: Invalid",
        ".storageVersions[0].decodableVersions[1]: Invalid",
        ".storageVersions[0].encodingVersion: Invalid",
      ],
    ],
    [
      "rejects empty conditions",
      { conditions: [{}] },
      [
        "[0].message: Required",
        "[0].reason: Required",
        // The empty text is reported both as a missing and as a malformed name.
        "[0].status: Invalid",
        "[0].status: Invalid",
        "[0].type: Invalid",
        "[0].type: Invalid",
      ],
    ],
    [
      "rejects a duplicate condition type",
      { conditions: [1, 2].map(() => ({ type: "A", status: "True", reason: "r", message: "m" })) },
      ["[1].type: Invalid"],
    ],
  ])("status: %s", (_title, status, faults) => {
    expect(judgeStatus(StorageVersion, named("a.b"), status).toSorted()).toEqual(
      faults.map((fault) => `status${fault}`),
    );
  });

  it("shows its table cells", () => {
    const storageVersions = ["a", "b", "c", "d"].map((apiServerID) => ({ ...server, apiServerID }));
    expect(
      cellsOf(StorageVersion, { status: { storageVersions, commonEncodingVersion: "apps/v1" } }),
    ).toMatchObject({
      CommonEncodingVersion: "apps/v1",
      StorageVersions: "a=apps/v1,b=apps/v1,c=apps/v1 + 1 more...",
    });
    expect(cellsOf(StorageVersion, {})).toMatchObject({
      CommonEncodingVersion: "<unset>",
      StorageVersions: "<unset>",
    });
  });
});

describe("ResourceClaim", () => {
  const claim = { spec: { resourceClassName: "gpu" } };
  it("allocationMode defaults to WaitForFirstConsumer", () => {
    expect(judgeNew(ResourceClaim, claim)).toMatchObject({
      faults: [],
      object: { spec: { resourceClassName: "gpu", allocationMode: "WaitForFirstConsumer" }, status: {} },
    });
  });
  it.each([
    ["a missing resourceClassName", {}, ["spec.resourceClassName: Invalid"]],
    [
      "an unknown allocationMode",
      { ...claim.spec, allocationMode: "Never" },
      ["spec.allocationMode: NotSupported"],
    ],
    [
      "an empty parametersRef",
      { ...claim.spec, parametersRef: {} },
      ["spec.parametersRef.kind: Required", "spec.parametersRef.name: Required"],
    ],
  ])("rejects %s", (_title, spec, faults) => {
    expect(judge(ResourceClaim, { spec }).toSorted()).toEqual(faults);
  });
  it("spec is immutable", () => {
    expect(short(judgeUpdate(ResourceClaim, claim, { spec: { resourceClassName: "fpga" } }).faults)).toEqual([
      "spec: Invalid",
    ]);
  });

  const consumer = { resource: "pods", name: "p", uid: "u" };
  const other = { ...consumer, uid: "v" };
  const allocated = { driverName: "d.example.com", allocation: { shareable: true } };
  it.each([
    ["accepts an allocation", allocated, {}, []],
    ["accepts two consumers when shareable", { ...allocated, reservedFor: [consumer, other] }, {}, []],
    ["rejects a malformed driverName", { driverName: "a b" }, {}, [".driverName: Invalid"]],
    ["rejects an allocation without driverName", { allocation: {} }, {}, [".driverName: Required"]],
    [
      "rejects a resourceHandle above 32768 characters",
      { ...allocated, allocation: { resourceHandle: "x".repeat(32_769) } },
      {},
      [".allocation.resourceHandle: TooLong"],
    ],
    ["rejects a consumer without allocation", { reservedFor: [consumer] }, {}, [".reservedFor: Forbidden"]],
    [
      "rejects two consumers of an allocation that is not shareable",
      { ...allocated, allocation: {}, reservedFor: [consumer, other] },
      {},
      [".reservedFor: Forbidden"],
    ],
    [
      "rejects a duplicate consumer",
      { ...allocated, reservedFor: [consumer, consumer] },
      {},
      [".reservedFor[1]: Duplicate"],
    ],
    [
      "rejects more than 32 consumers",
      {
        ...allocated,
        reservedFor: Array.from({ length: 33 }, (_, index) => ({ ...consumer, uid: `u${index}` })),
      },
      {},
      [".reservedFor: TooMany"],
    ],
    [
      "rejects an empty consumer",
      { ...allocated, reservedFor: [{}] },
      {},
      [
        ".reservedFor[0].resource: Required",
        ".reservedFor[0].name: Required",
        ".reservedFor[0].uid: Required",
      ],
    ],
    [
      "rejects deallocationRequested while a consumer remains",
      { ...allocated, reservedFor: [consumer], deallocationRequested: true },
      { ...allocated, reservedFor: [consumer] },
      [".deallocationRequested: Forbidden"],
    ],
    [
      "rejects deallocationRequested without an allocation",
      { deallocationRequested: true },
      {},
      [".deallocationRequested: Forbidden"],
    ],
    ["accepts deallocationRequested if unused", { ...allocated, deallocationRequested: true }, allocated, []],
    [
      "rejects a withdrawn deallocationRequested",
      allocated,
      { ...allocated, deallocationRequested: true },
      [".deallocationRequested: Forbidden"],
    ],
    [
      "rejects a new consumer after deallocationRequested",
      { ...allocated, deallocationRequested: true, reservedFor: [consumer] },
      { ...allocated, deallocationRequested: true },
      [".reservedFor: Forbidden"],
    ],
    [
      "accepts a removed allocation after deallocationRequested",
      {},
      { ...allocated, deallocationRequested: true },
      [],
    ],
  ])("status: %s", (_title, now, before, faults) => {
    expect(judgeStatus(ResourceClaim, claim, now, before)).toEqual(faults.map((fault) => `status${fault}`));
  });

  it("shows its table cells", () => {
    const state = (status: Part, metadata: Part = {}) =>
      cellsOf(ResourceClaim, { ...claim, status, metadata })["State"];
    const gone = { deletionTimestamp: "2024-01-01T00:00:00Z" };
    expect(cellsOf(ResourceClaim, claim)).toEqual({
      Name: "one",
      ResourceClassName: "gpu",
      AllocationMode: "WaitForFirstConsumer",
      State: "pending",
      Age: "<unknown>",
    });
    expect(state({}, gone)).toBe("deleted");
    expect(state(allocated)).toBe("allocated");
    expect(state({ ...allocated, reservedFor: [consumer] }, gone)).toBe("deleted,allocated,reserved");
    expect(state({ ...allocated, deallocationRequested: true })).toBe("allocated,deallocating");
  });
});

describe("ResourceClaimTemplate, ResourceClass and PodScheduling", () => {
  it("a template gets the default values of claims, and its spec is immutable", () => {
    const template = { spec: { spec: { resourceClassName: "gpu" } } };
    expect(judgeNew(ResourceClaimTemplate, template)).toMatchObject({
      faults: [],
      object: { spec: { spec: { allocationMode: "WaitForFirstConsumer" } } },
    });
    expect(
      short(
        judgeUpdate(ResourceClaimTemplate, template, { spec: { spec: { resourceClassName: "x" } } }).faults,
      ),
    ).toEqual(["spec: Invalid"]);
    expect(cellsOf(ResourceClaimTemplate, template)).toMatchObject({ ResourceClassName: "gpu" });
  });

  it.each([
    ["accepts a ResourceClass", { driverName: "d.example.com" }, []],
    ["rejects a ResourceClass without driverName", {}, ["driverName: Required", "driverName: Invalid"]],
    ["rejects a ResourceClass with a malformed driverName", { driverName: "a b" }, ["driverName: Invalid"]],
    [
      "rejects a ResourceClass with a malformed namespace in parametersRef",
      { driverName: "d", parametersRef: { kind: "K", name: "n", namespace: "N" } },
      ["parametersRef.namespace: Invalid"],
    ],
  ])("%s", (_title, given, faults) => {
    expect(judge(ResourceClass, given)).toEqual(faults);
  });
  it("a ResourceClass shows its table cells", () => {
    expect(cellsOf(ResourceClass, { driverName: "d" })).toEqual({
      Name: "one",
      DriverName: "d",
      Age: "<unknown>",
    });
  });

  it.each([
    ["accepts potentialNodes", { spec: { selectedNode: "a", potentialNodes: ["a", "b"] } }, []],
    [
      "rejects a duplicate node",
      { spec: { potentialNodes: ["a", "a"] } },
      ["spec.potentialNodes[1]: Duplicate"],
    ],
    ["rejects a malformed node", { spec: { potentialNodes: ["A"] } }, ["spec.potentialNodes[0]: Invalid"]],
    [
      "rejects more than 128 potentialNodes",
      { spec: { potentialNodes: Array.from({ length: 129 }, (_, index) => `n${index}`) } },
      ["spec.potentialNodes: TooMany"],
    ],
  ])("PodScheduling: %s", (_title, given, faults) => {
    expect(judge(PodScheduling, given)).toEqual(faults);
  });
  it("a PodScheduling rejects duplicates in its status, and shows its table cells", () => {
    const claims = [{ name: "a", unsuitableNodes: ["n", "n"] }, { name: "a" }];
    expect(judgeStatus(PodScheduling, { spec: {} }, { resourceClaims: claims })).toEqual([
      "status.claims[1]: Duplicate",
      "status.claims[0].unsuitableNodes[1]: Duplicate",
    ]);
    expect(cellsOf(PodScheduling, { spec: { selectedNode: "a" } })).toMatchObject({ SelectedNode: "a" });
  });
});
