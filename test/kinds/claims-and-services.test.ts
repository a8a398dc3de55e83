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

  it("that is local has the condition Available from its creation", () => {
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
      "the core group",
      { metadata: { name: "v1." }, spec: { version: "v1", groupPriorityMinimum: 1, versionPriority: 1 } },
      [],
    ],
    ["another name", { ...withSpec({}), metadata: { name: "x" } }, ["metadata.name: Invalid"]],
    [
      "no group",
      { ...withSpec({ group: "", version: "v2" }), metadata: { name: "v2." } },
      ["spec.group: Required"],
    ],
    [
      "a malformed group and version",
      { ...withSpec({ group: "A", version: "V" }), metadata: { name: "V.A" } },
      ["spec.group: Invalid", "spec.version: Invalid"],
    ],
    [
      "no priorities",
      withSpec({ groupPriorityMinimum: 0, versionPriority: 0 }),
      ["spec.groupPriorityMinimum: Invalid", "spec.versionPriority: Invalid"],
    ],
    [
      "great priorities",
      withSpec({ groupPriorityMinimum: 20_001, versionPriority: 1001 }),
      ["spec.groupPriorityMinimum: Invalid", "spec.versionPriority: Invalid"],
    ],
    [
      "trust in nothing",
      withSpec({ caBundle: "AAAA", insecureSkipTLSVerify: true }),
      ["spec.caBundle: Invalid", "spec.insecureSkipTLSVerify: Invalid"],
    ],
    [
      "trust and none",
      withSpec({ service, caBundle: "AAAA", insecureSkipTLSVerify: true }),
      ["spec.insecureSkipTLSVerify: Invalid"],
    ],
    [
      "an empty service",
      withSpec({ service: { port: 0 } }),
      ["spec.service.namespace: Required", "spec.service.name: Required", "spec.service.port: Invalid"],
    ],
  ])("%s", (_title, given, faults) => {
    expect(judge(APIService, given)).toEqual(faults);
  });

  it("has conditions that hold, don't, or may", () => {
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
  ])("the name %s: %j", (name, faults) => {
    expect(judge(StorageVersion, named(name))).toEqual(faults);
  });

  it.each([
    ["one server", { storageVersions: [server], commonEncodingVersion: "apps/v1" }, []],
    ["nothing", {}, []],
    ["an agreement that isn't said", { storageVersions: [server] }, [".commonEncodingVersion: Invalid"]],
    [
      "no agreement",
      {
        storageVersions: [server, { ...server, apiServerID: "b", encodingVersion: "v1" }],
        commonEncodingVersion: "v1",
      },
      [".commonEncodingVersion: Invalid"],
    ],
    [
      "a server twice",
      { storageVersions: [server, server], commonEncodingVersion: "apps/v1" },
      [".storageVersions[1].apiServerID: Duplicate"],
    ],
    [
      "a server that can't read what it writes",
      { storageVersions: [{ ...server, decodableVersions: ["v1"] }], commonEncodingVersion: "apps/v1" },
      [".storageVersions[0].decodableVersions: Invalid"],
    ],
    [
      "malformed versions",
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
      "empty conditions",
      { conditions: [{}] },
      [
        "[0].message: Required",
        "[0].reason: Required",
        // The part before a slash and the name itself: each is told.
        "[0].status: Invalid",
        "[0].status: Invalid",
        "[0].type: Invalid",
        "[0].type: Invalid",
      ],
    ],
    [
      "a condition twice",
      { conditions: [1, 2].map(() => ({ type: "A", status: "True", reason: "r", message: "m" })) },
      ["[1].type: Invalid"],
    ],
  ])("a status with %s", (_title, status, faults) => {
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
  it("waits for a pod unless it says otherwise", () => {
    expect(judgeNew(ResourceClaim, claim)).toMatchObject({
      faults: [],
      object: { spec: { resourceClassName: "gpu", allocationMode: "WaitForFirstConsumer" }, status: {} },
    });
  });
  it.each([
    ["no class", {}, ["spec.resourceClassName: Invalid"]],
    ["another mode", { ...claim.spec, allocationMode: "Never" }, ["spec.allocationMode: NotSupported"]],
    [
      "empty parameters",
      { ...claim.spec, parametersRef: {} },
      ["spec.parametersRef.kind: Required", "spec.parametersRef.name: Required"],
    ],
  ])("%s: refused", (_title, spec, faults) => {
    expect(judge(ResourceClaim, { spec }).toSorted()).toEqual(faults);
  });
  it("can't be changed", () => {
    expect(short(judgeUpdate(ResourceClaim, claim, { spec: { resourceClassName: "fpga" } }).faults)).toEqual([
      "spec: Invalid",
    ]);
  });

  const consumer = { resource: "pods", name: "p", uid: "u" };
  const other = { ...consumer, uid: "v" };
  const allocated = { driverName: "d.example.com", allocation: { shareable: true } };
  it.each([
    ["a resource", allocated, {}, []],
    ["a resource that is used", { ...allocated, reservedFor: [consumer, other] }, {}, []],
    ["a malformed driver", { driverName: "a b" }, {}, [".driverName: Invalid"]],
    ["no driver", { allocation: {} }, {}, [".driverName: Required"]],
    [
      "a long handle",
      { ...allocated, allocation: { resourceHandle: "x".repeat(32_769) } },
      {},
      [".allocation.resourceHandle: TooLong"],
    ],
    ["use of nothing", { reservedFor: [consumer] }, {}, [".reservedFor: Forbidden"]],
    [
      "two users of one's own",
      { ...allocated, allocation: {}, reservedFor: [consumer, other] },
      {},
      [".reservedFor: Forbidden"],
    ],
    ["a user twice", { ...allocated, reservedFor: [consumer, consumer] }, {}, [".reservedFor[1]: Duplicate"]],
    [
      "too many users",
      {
        ...allocated,
        reservedFor: Array.from({ length: 33 }, (_, index) => ({ ...consumer, uid: `u${index}` })),
      },
      {},
      [".reservedFor: TooMany"],
    ],
    [
      "a nameless user",
      { ...allocated, reservedFor: [{}] },
      {},
      [
        ".reservedFor[0].resource: Required",
        ".reservedFor[0].name: Required",
        ".reservedFor[0].uid: Required",
      ],
    ],
    [
      "a return of what is used",
      { ...allocated, reservedFor: [consumer], deallocationRequested: true },
      { ...allocated, reservedFor: [consumer] },
      [".deallocationRequested: Forbidden"],
    ],
    ["a return of nothing", { deallocationRequested: true }, {}, [".deallocationRequested: Forbidden"]],
    ["a return", { ...allocated, deallocationRequested: true }, allocated, []],
    [
      "second thoughts",
      allocated,
      { ...allocated, deallocationRequested: true },
      [".deallocationRequested: Forbidden"],
    ],
    [
      "a new user of what is returned",
      { ...allocated, deallocationRequested: true, reservedFor: [consumer] },
      { ...allocated, deallocationRequested: true },
      [".reservedFor: Forbidden"],
    ],
    ["the end of a return", {}, { ...allocated, deallocationRequested: true }, []],
  ])("a status with %s", (_title, now, before, faults) => {
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

describe("other kinds of resource claims", () => {
  it("a template makes claims, and can't be changed", () => {
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
    ["a class", { driverName: "d.example.com" }, []],
    ["a class without driver", {}, ["driverName: Required", "driverName: Invalid"]],
    ["a class with a malformed driver", { driverName: "a b" }, ["driverName: Invalid"]],
    [
      "a class with parameters elsewhere",
      { driverName: "d", parametersRef: { kind: "K", name: "n", namespace: "N" } },
      ["parametersRef.namespace: Invalid"],
    ],
  ])("%s", (_title, given, faults) => {
    expect(judge(ResourceClass, given)).toEqual(faults);
  });
  it("a class has a row", () => {
    expect(cellsOf(ResourceClass, { driverName: "d" })).toEqual({
      Name: "one",
      DriverName: "d",
      Age: "<unknown>",
    });
  });

  it.each([
    ["some nodes", { spec: { selectedNode: "a", potentialNodes: ["a", "b"] } }, []],
    ["a node twice", { spec: { potentialNodes: ["a", "a"] } }, ["spec.potentialNodes[1]: Duplicate"]],
    ["a malformed node", { spec: { potentialNodes: ["A"] } }, ["spec.potentialNodes[0]: Invalid"]],
    [
      "too many nodes",
      { spec: { potentialNodes: Array.from({ length: 129 }, (_, index) => `n${index}`) } },
      ["spec.potentialNodes: TooMany"],
    ],
  ])("a scheduling of %s", (_title, given, faults) => {
    expect(judge(PodScheduling, given)).toEqual(faults);
  });
  it("a scheduling has a status", () => {
    const claims = [{ name: "a", unsuitableNodes: ["n", "n"] }, { name: "a" }];
    expect(judgeStatus(PodScheduling, { spec: {} }, { resourceClaims: claims })).toEqual([
      "status.claims[1]: Duplicate",
      "status.claims[0].unsuitableNodes[1]: Duplicate",
    ]);
    expect(cellsOf(PodScheduling, { spec: { selectedNode: "a" } })).toMatchObject({ SelectedNode: "a" });
  });
});
