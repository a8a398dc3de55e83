import { describe, expect, it } from "vitest";
import { TokenRequest } from "../../src/kinds/authentication/token-request.ts";
import { Lease } from "../../src/kinds/coordination/lease.ts";
import { RuntimeClass } from "../../src/kinds/node/runtime-class.ts";
import { Eviction } from "../../src/kinds/policy/eviction.ts";
import { PodDisruptionBudget } from "../../src/kinds/policy/pod-disruption-budget.ts";
import { PriorityClass } from "../../src/kinds/scheduling/priority-class.ts";
import type { Part } from "./pod-support.ts";
import { cellsOf, judgeNew, judgeUpdate, readAs } from "./support.ts";

const short = (faults: readonly string[]) => faults.map((fault) => fault.replace("FieldValue", ""));

describe("PodDisruptionBudget", () => {
  const selector = { matchLabels: { app: "web" } };
  const withSpec = (spec: Part): Part => ({ spec: { selector, ...spec } });

  it.each([
    {},
    { minAvailable: 1 },
    { minAvailable: "50%" },
    { maxUnavailable: 0 },
    { maxUnavailable: "100%" },
  ])("spec %j is valid and gets no default values", (spec) => {
    const { object, faults } = judgeNew(PodDisruptionBudget, withSpec(spec));
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({ selector, ...spec });
    expect(object["status"]).toEqual({
      disruptionsAllowed: 0,
      currentHealthy: 0,
      desiredHealthy: 0,
      expectedPods: 0,
    });
  });

  it("an empty selector is distinguished from an absent one", () => {
    expect(readAs(PodDisruptionBudget, { spec: { selector: {} } })["spec"]).toEqual({ selector: {} });
    expect(readAs(PodDisruptionBudget, { spec: {} })["spec"]).toEqual({});
  });

  it.each([
    ["both minAvailable and maxUnavailable", { minAvailable: 1, maxUnavailable: 1 }, ["spec: Invalid"]],
    ["a negative minAvailable", { minAvailable: -1 }, ["spec.minAvailable: Invalid"]],
    ["a percentage above 100", { maxUnavailable: "101%" }, ["spec.maxUnavailable: Invalid"]],
    ["a text that is not a percentage", { maxUnavailable: "some" }, ["spec.maxUnavailable: Invalid"]],
    ["an empty minAvailable", { minAvailable: "" }, ["spec.minAvailable: Invalid"]],
    [
      "a malformed selector",
      { selector: { matchLabels: { "a b": "c" } } },
      ["spec.selector.matchLabels: Invalid"],
    ],
  ])("rejects %s", (_title, spec, faults) => {
    expect(short(judgeNew(PodDisruptionBudget, withSpec(spec)).faults)).toEqual(faults);
  });

  it("rejects an unknown unhealthyPodEvictionPolicy", () => {
    const judge = (unhealthyPodEvictionPolicy: string) =>
      short(judgeNew(PodDisruptionBudget, withSpec({ unhealthyPodEvictionPolicy })).faults);
    expect(judge("AlwaysAllow")).toEqual([]);
    expect(judge("Sometimes")).toEqual(["spec.unhealthyPodEvictionPolicy: NotSupported"]);
    expect(judge("")).toEqual(["spec.unhealthyPodEvictionPolicy: NotSupported"]);
  });

  it("accepts a change from minAvailable to maxUnavailable", () => {
    expect(
      judgeUpdate(PodDisruptionBudget, withSpec({ minAvailable: 1 }), withSpec({ maxUnavailable: 1 })).faults,
    ).toEqual([]);
  });

  const status = { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 };
  const condition = {
    type: "DisruptionAllowed",
    status: "True",
    lastTransitionTime: "2024-01-01T00:00:00Z",
    reason: "Enough",
  };
  it.each([
    ["accepts counts without conditions", {}, []],
    ["accepts a condition", { conditions: [condition] }, []],
    [
      "rejects negative counts",
      { disruptionsAllowed: -1, expectedPods: -1 },
      ["status.disruptionsAllowed: Invalid", "status.expectedPods: Invalid"],
    ],
    [
      "rejects a duplicate condition type",
      { conditions: [condition, condition] },
      ["status.conditions[1].type: Duplicate"],
    ],
    [
      "rejects an unknown condition status",
      { conditions: [{ ...condition, status: "Maybe" }] },
      ["status.conditions[0].status: NotSupported"],
    ],
    [
      "rejects a malformed reason",
      { conditions: [{ ...condition, reason: "a b" }] },
      ["status.conditions[0].reason: Invalid"],
    ],
    [
      "rejects an empty reason",
      { conditions: [{ ...condition, reason: "" }] },
      ["status.conditions[0].reason: Required"],
    ],
    [
      "rejects a reason above 1024 characters",
      { conditions: [{ ...condition, reason: "a".repeat(1025) }] },
      ["status.conditions[0].reason: TooLong"],
    ],
    [
      "rejects a message above 32768 characters",
      { conditions: [{ ...condition, message: "a".repeat(32_769) }] },
      ["status.conditions[0].message: TooLong"],
    ],
    [
      "rejects a malformed condition type",
      { conditions: [{ ...condition, type: "a b" }] },
      ["status.conditions[0].type: Invalid"],
    ],
    [
      "rejects a missing lastTransitionTime",
      { conditions: [{ ...condition, lastTransitionTime: null }] },
      ["status.conditions[0].lastTransitionTime: Required"],
    ],
  ])("status: %s", (_title, part, faults) => {
    const written = { ...withSpec({ minAvailable: 5 }), status: { ...status, ...part } };
    const judged = judgeUpdate(PodDisruptionBudget, withSpec({}), written, { subresource: "status" });
    expect(short(judged.faults)).toEqual(faults);
    expect(judged.object["spec"]).toEqual({ selector });
  });

  it("shows its table cells", () => {
    expect(cellsOf(PodDisruptionBudget, { ...withSpec({ minAvailable: "50%" }), status })).toEqual({
      Name: "one",
      "Min Available": "50%",
      "Max Unavailable": "N/A",
      "Allowed Disruptions": 1,
      Age: "<unknown>",
    });
    expect(cellsOf(PodDisruptionBudget, withSpec({ maxUnavailable: 0 }))).toMatchObject({
      "Min Available": "N/A",
      "Max Unavailable": "0",
    });
  });
});

describe("Eviction", () => {
  it("accepts deleteOptions", () => {
    const deleteOptions = { gracePeriodSeconds: 0, preconditions: { uid: "u" } };
    expect(judgeNew(Eviction, { deleteOptions })).toMatchObject({ faults: [], object: { deleteOptions } });
  });
});

describe("PriorityClass", () => {
  const named = (name: string, part: Part): Part => ({ metadata: { name }, ...part });
  it("defaults preemptionPolicy to PreemptLowerPriority", () => {
    const { object, faults } = judgeNew(PriorityClass, { value: 5 });
    expect(faults).toEqual([]);
    expect(object).toMatchObject({ value: 5, preemptionPolicy: "PreemptLowerPriority" });
  });
  it.each([
    ["accepts the highest user value 1000000000", named("a", { value: 1_000_000_000 }), []],
    ["rejects a value above 1000000000", named("a", { value: 1_000_000_001 }), ["value: Forbidden"]],
    ["accepts a negative value", named("a", { value: -5 }), []],
    [
      "rejects an unknown name with the prefix system-",
      named("system-mine", { value: 5 }),
      ["metadata.name: Forbidden"],
    ],
    [
      "accepts system-node-critical with its value",
      named("system-node-critical", { value: 2_000_001_000 }),
      [],
    ],
    [
      "accepts system-cluster-critical with its value",
      named("system-cluster-critical", { value: 2_000_000_000 }),
      [],
    ],
    [
      "rejects system-node-critical with another value",
      named("system-node-critical", { value: 1 }),
      ["metadata.name: Forbidden"],
    ],
    [
      "rejects system-node-critical with globalDefault",
      named("system-node-critical", { value: 2_000_001_000, globalDefault: true }),
      ["metadata.name: Forbidden"],
    ],
    [
      "rejects an unknown preemptionPolicy",
      { preemptionPolicy: "Always" },
      ["preemptionPolicy: NotSupported"],
    ],
    ["rejects an empty preemptionPolicy", { preemptionPolicy: "" }, ["preemptionPolicy: Required"]],
  ])("%s", (_title, given, faults) => {
    expect(short(judgeNew(PriorityClass, given).faults)).toEqual(faults);
  });
  it("value and preemptionPolicy are immutable", () => {
    const change = (part: Part) =>
      short(judgeUpdate(PriorityClass, { value: 1 }, { value: 1, ...part }).faults);
    expect(change({ description: "x", globalDefault: true })).toEqual([]);
    expect(change({ value: 2 })).toEqual(["value: Forbidden"]);
    expect(change({ preemptionPolicy: "Never" })).toEqual(["preemptionPolicy: Invalid"]);
    // An update reports only the immutable field, not the unknown value.
    expect(change({ preemptionPolicy: "Always" })).toEqual(["preemptionPolicy: Invalid"]);
  });
  it("shows its table cells", () => {
    expect(cellsOf(PriorityClass, { value: 7, globalDefault: true })).toEqual({
      Name: "one",
      Value: 7,
      "Global-Default": true,
      Age: "<unknown>",
    });
  });
});

describe("RuntimeClass", () => {
  it.each([
    ["accepts a minimal object", { handler: "runc" }, []],
    ["rejects a missing handler", {}, ["handler: Invalid"]],
    ["rejects a handler that is not a DNS label", { handler: "a.b" }, ["handler: Invalid"]],
    ["accepts an overhead", { handler: "a", overhead: { podFixed: { cpu: "100m", memory: "1Gi" } } }, []],
    [
      "rejects a negative overhead",
      { handler: "a", overhead: { podFixed: { cpu: "-1" } } },
      ["overhead.limits[cpu]: Invalid"],
    ],
    [
      "accepts a nodeSelector and tolerations",
      { handler: "a", scheduling: { nodeSelector: { a: "b" }, tolerations: [{ operator: "Exists" }] } },
      [],
    ],
    [
      "rejects a malformed nodeSelector",
      { handler: "a", scheduling: { nodeSelector: { "a b": "c" } } },
      ["scheduling.nodeSelector: Invalid"],
    ],
    [
      "rejects a malformed toleration",
      { handler: "a", scheduling: { tolerations: [{ operator: "Some", key: "a" }] } },
      ["scheduling.tolerations[0].operator: NotSupported"],
    ],
  ])("%s", (_title, given, faults) => {
    expect(short(judgeNew(RuntimeClass, given).faults)).toEqual(faults);
  });
  it("handler is immutable", () => {
    expect(short(judgeUpdate(RuntimeClass, { handler: "a" }, { handler: "b" }).faults)).toEqual([
      "handler: Invalid",
    ]);
  });
  it("shows its table cells", () => {
    expect(cellsOf(RuntimeClass, { handler: "runc" })).toEqual({
      Name: "one",
      Handler: "runc",
      Age: "<unknown>",
    });
  });
});

describe("Lease", () => {
  const spec = { holderIdentity: "me", leaseDurationSeconds: 15, renewTime: "2024-01-01T00:00:00.123456Z" };
  it.each([
    ["accepts a Lease without spec", {}, []],
    ["accepts a Lease with holder, duration and renewTime", { spec }, []],
    [
      "rejects leaseDurationSeconds 0",
      { spec: { leaseDurationSeconds: 0 } },
      ["spec.leaseDurationSeconds: Invalid"],
    ],
    [
      "rejects negative leaseTransitions",
      { spec: { leaseTransitions: -1 } },
      ["spec.leaseTransitions: Invalid"],
    ],
    ["accepts leaseTransitions 0", { spec: { leaseTransitions: 0 } }, []],
  ])("%s", (_title, given, faults) => {
    expect(short(judgeNew(Lease, given).faults)).toEqual(faults);
  });
  it("can be created by an update, and shows its table cells", () => {
    expect(Lease.createOnUpdate).toBe(true);
    expect(cellsOf(Lease, { spec })).toEqual({ Name: "one", Holder: "me", Age: "<unknown>" });
  });
});

describe("TokenRequest", () => {
  it("defaults expirationSeconds to 3600", () => {
    expect(readAs(TokenRequest, { spec: { audiences: ["a"] } })["spec"]).toEqual({
      audiences: ["a"],
      boundObjectRef: null,
      expirationSeconds: 3600,
    });
  });
  it.each([
    [599, ["spec.expirationSeconds: Invalid"]],
    [600, []],
    [2 ** 32, []],
    [2 ** 32 + 1, ["spec.expirationSeconds: Invalid"]],
  ])("validates expirationSeconds %d: %j", (expirationSeconds, faults) => {
    expect(short(judgeNew(TokenRequest, { spec: { audiences: [], expirationSeconds } }).faults)).toEqual(
      faults,
    );
  });
});
