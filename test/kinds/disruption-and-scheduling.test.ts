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
  ])("%j is right, and nothing is filled in", (spec) => {
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
    ["both limits", { minAvailable: 1, maxUnavailable: 1 }, ["spec: Invalid"]],
    ["a negative number", { minAvailable: -1 }, ["spec.minAvailable: Invalid"]],
    ["more than all", { maxUnavailable: "101%" }, ["spec.maxUnavailable: Invalid"]],
    ["words", { maxUnavailable: "some" }, ["spec.maxUnavailable: Invalid"]],
    ["an empty text", { minAvailable: "" }, ["spec.minAvailable: Invalid"]],
    [
      "a malformed selector",
      { selector: { matchLabels: { "a b": "c" } } },
      ["spec.selector.matchLabels: Invalid"],
    ],
  ])("%s: refused", (_title, spec, faults) => {
    expect(short(judgeNew(PodDisruptionBudget, withSpec(spec)).faults)).toEqual(faults);
  });

  it("knows two policies for unhealthy pods", () => {
    const judge = (unhealthyPodEvictionPolicy: string) =>
      short(judgeNew(PodDisruptionBudget, withSpec({ unhealthyPodEvictionPolicy })).faults);
    expect(judge("AlwaysAllow")).toEqual([]);
    expect(judge("Sometimes")).toEqual(["spec.unhealthyPodEvictionPolicy: NotSupported"]);
    expect(judge("")).toEqual(["spec.unhealthyPodEvictionPolicy: NotSupported"]);
  });

  it("can be changed", () => {
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
    ["the smallest", {}, []],
    ["a condition", { conditions: [condition] }, []],
    [
      "negative numbers",
      { disruptionsAllowed: -1, expectedPods: -1 },
      ["status.disruptionsAllowed: Invalid", "status.expectedPods: Invalid"],
    ],
    ["a condition twice", { conditions: [condition, condition] }, ["status.conditions[1].type: Duplicate"]],
    [
      "an odd status",
      { conditions: [{ ...condition, status: "Maybe" }] },
      ["status.conditions[0].status: NotSupported"],
    ],
    [
      "an odd reason",
      { conditions: [{ ...condition, reason: "a b" }] },
      ["status.conditions[0].reason: Invalid"],
    ],
    ["no reason", { conditions: [{ ...condition, reason: "" }] }, ["status.conditions[0].reason: Required"]],
    [
      "a long reason",
      { conditions: [{ ...condition, reason: "a".repeat(1025) }] },
      ["status.conditions[0].reason: TooLong"],
    ],
    [
      "a long message",
      { conditions: [{ ...condition, message: "a".repeat(32_769) }] },
      ["status.conditions[0].message: TooLong"],
    ],
    ["an odd type", { conditions: [{ ...condition, type: "a b" }] }, ["status.conditions[0].type: Invalid"]],
    [
      "no time",
      { conditions: [{ ...condition, lastTransitionTime: null }] },
      ["status.conditions[0].lastTransitionTime: Required"],
    ],
  ])("status with %s", (_title, part, faults) => {
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
    ["the greatest value", named("a", { value: 1_000_000_000 }), []],
    ["a greater value", named("a", { value: 1_000_000_001 }), ["value: Forbidden"]],
    ["a negative value", named("a", { value: -5 }), []],
    ["a name of the system's", named("system-mine", { value: 5 }), ["metadata.name: Forbidden"]],
    ["a class of the system", named("system-node-critical", { value: 2_000_001_000 }), []],
    ["another class of the system", named("system-cluster-critical", { value: 2_000_000_000 }), []],
    [
      "its name with another value",
      named("system-node-critical", { value: 1 }),
      ["metadata.name: Forbidden"],
    ],
    [
      "its name as the default",
      named("system-node-critical", { value: 2_000_001_000, globalDefault: true }),
      ["metadata.name: Forbidden"],
    ],
    ["another policy", { preemptionPolicy: "Always" }, ["preemptionPolicy: NotSupported"]],
    ["an empty policy", { preemptionPolicy: "" }, ["preemptionPolicy: Required"]],
  ])("%s", (_title, given, faults) => {
    expect(short(judgeNew(PriorityClass, given).faults)).toEqual(faults);
  });
  it("keeps its value and policy", () => {
    const change = (part: Part) =>
      short(judgeUpdate(PriorityClass, { value: 1 }, { value: 1, ...part }).faults);
    expect(change({ description: "x", globalDefault: true })).toEqual([]);
    expect(change({ value: 2 })).toEqual(["value: Forbidden"]);
    expect(change({ preemptionPolicy: "Never" })).toEqual(["preemptionPolicy: Invalid"]);
    // That there is no such policy isn't said then.
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
    ["the smallest", { handler: "runc" }, []],
    ["no handler", {}, ["handler: Invalid"]],
    ["a handler that is no label", { handler: "a.b" }, ["handler: Invalid"]],
    ["an overhead", { handler: "a", overhead: { podFixed: { cpu: "100m", memory: "1Gi" } } }, []],
    [
      "a negative overhead",
      { handler: "a", overhead: { podFixed: { cpu: "-1" } } },
      ["overhead.limits[cpu]: Invalid"],
    ],
    [
      "nodes and tolerations",
      { handler: "a", scheduling: { nodeSelector: { a: "b" }, tolerations: [{ operator: "Exists" }] } },
      [],
    ],
    [
      "a malformed label",
      { handler: "a", scheduling: { nodeSelector: { "a b": "c" } } },
      ["scheduling.nodeSelector: Invalid"],
    ],
    [
      "a malformed toleration",
      { handler: "a", scheduling: { tolerations: [{ operator: "Some", key: "a" }] } },
      ["scheduling.tolerations[0].operator: NotSupported"],
    ],
  ])("%s", (_title, given, faults) => {
    expect(short(judgeNew(RuntimeClass, given).faults)).toEqual(faults);
  });
  it("keeps its handler", () => {
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
    ["none", {}, []],
    ["a whole one", { spec }, []],
    ["no duration", { spec: { leaseDurationSeconds: 0 } }, ["spec.leaseDurationSeconds: Invalid"]],
    ["a negative count", { spec: { leaseTransitions: -1 } }, ["spec.leaseTransitions: Invalid"]],
    ["no change yet", { spec: { leaseTransitions: 0 } }, []],
  ])("%s", (_title, given, faults) => {
    expect(short(judgeNew(Lease, given).faults)).toEqual(faults);
  });
  it("can be created by an update, and shows table cells", () => {
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
  ])("%d seconds: %j", (expirationSeconds, faults) => {
    expect(short(judgeNew(TokenRequest, { spec: { audiences: [], expirationSeconds } }).faults)).toEqual(
      faults,
    );
  });
});
