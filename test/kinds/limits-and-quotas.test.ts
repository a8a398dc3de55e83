import { describe, expect, it } from "vitest";
import { LimitRange } from "../../src/kinds/core/limit-range.ts";
import { ResourceQuota } from "../../src/kinds/core/resource-quota.ts";
import { cellsOf, judgeNew, judgeUpdate, readAs } from "./support.ts";

const limits = (...items: object[]) => ({ spec: { limits: items } });

describe("LimitRange: defaults", () => {
  it("a minimal object is valid and gets no default values", () => {
    expect(judgeNew(LimitRange, {}).faults).toEqual([]);
    expect(readAs(LimitRange, {})["spec"]).toEqual({ limits: null });
  });

  it("of a Container limit are taken from max for default, and from default and then min for defaultRequest", () => {
    const item = {
      type: "Container",
      max: { cpu: "2", memory: "2Gi" },
      min: { cpu: "1", memory: "1Gi", "ephemeral-storage": "1Gi" },
      default: { memory: "1.5Gi" },
    };
    expect(readAs(LimitRange, limits(item))["spec"]).toEqual({
      limits: [
        {
          ...item,
          default: { cpu: "2", memory: "1536Mi" },
          defaultRequest: { cpu: "2", memory: "1536Mi", "ephemeral-storage": "1Gi" },
        },
      ],
    });
  });

  it("other types get no defaults, and quantities are rounded up to 0.001", () => {
    const item = { type: "Pod", max: { cpu: "1u" }, maxLimitRequestRatio: { cpu: "1500u" } };
    expect(readAs(LimitRange, limits(item))["spec"]).toEqual({
      limits: [{ type: "Pod", max: { cpu: "1m" }, maxLimitRequestRatio: { cpu: "2m" } }],
    });
  });
});

describe("LimitRange", () => {
  it.each<[string, object[], string[]]>([
    ["accepts min and max of type Pod", [{ type: "Pod", min: { cpu: "1" }, max: { cpu: "2" } }], []],
    [
      "accepts a qualified type of another domain",
      [{ type: "example.com/disk", max: { "example.com/size": "1" } }],
      [],
    ],
    [
      "rejects an empty type",
      [{}],
      ["spec.limits[0].type", "spec.limits[0].type"].map((at) => `${at}: FieldValueInvalid`),
    ],
    ["rejects an unknown type", [{ type: "Other" }], ["spec.limits[0].type: FieldValueInvalid"]],
    [
      "rejects a duplicate type",
      [{ type: "Pod" }, { type: "Pod" }],
      ["spec.limits[1].type: FieldValueDuplicate"],
    ],
    [
      "rejects the resource pods for type Container",
      [{ type: "Container", max: { pods: "1" } }],
      ["spec.limits[0].max[pods]", "spec.limits[0].default[pods]", "spec.limits[0].defaultRequest[pods]"].map(
        (place) => `${place}: FieldValueInvalid`,
      ),
    ],
    [
      "rejects default values for type Pod",
      [{ type: "Pod", default: { cpu: "1" }, defaultRequest: { cpu: "1" } }],
      ["spec.limits[0].default: FieldValueForbidden", "spec.limits[0].defaultRequest: FieldValueForbidden"],
    ],
    [
      "rejects type PersistentVolumeClaim without min and max",
      [{ type: "PersistentVolumeClaim" }],
      ["spec.limits[0].limits: FieldValueRequired"],
    ],
    [
      "accepts type PersistentVolumeClaim with a maximum of storage",
      [{ type: "PersistentVolumeClaim", max: { storage: "1Gi" } }],
      [],
    ],
    [
      "rejects a minimum above the maximum",
      [{ type: "Pod", min: { cpu: "2" }, max: { cpu: "1" } }],
      ["spec.limits[0].min[cpu]: FieldValueInvalid"],
    ],
    [
      "rejects a default request below the minimum",
      [{ type: "Container", min: { cpu: "2" }, default: { cpu: "3" }, defaultRequest: { cpu: "1" } }],
      ["spec.limits[0].defaultRequest[cpu]: FieldValueInvalid"],
    ],
    [
      "rejects a default request above the default and the maximum",
      [{ type: "Container", max: { cpu: "2" }, default: { cpu: "1" }, defaultRequest: { cpu: "3" } }],
      [
        "spec.limits[0].defaultRequest[cpu]: FieldValueInvalid",
        "spec.limits[0].defaultRequest[cpu]: FieldValueInvalid",
      ],
    ],
    [
      "rejects a default below the minimum",
      [{ type: "Container", min: { cpu: "2" }, default: { cpu: "1" }, defaultRequest: { cpu: "2" } }],
      [
        "spec.limits[0].default[cpu]: FieldValueInvalid",
        "spec.limits[0].defaultRequest[cpu]: FieldValueInvalid",
      ],
    ],
    [
      "rejects a default above the maximum",
      [{ type: "Container", max: { cpu: "1" }, default: { cpu: "2" }, defaultRequest: { cpu: "1" } }],
      ["spec.limits[0].default[cpu]: FieldValueInvalid"],
    ],
    [
      "rejects a maxLimitRequestRatio below 1",
      [{ type: "Pod", maxLimitRequestRatio: { cpu: "900m" } }],
      ["spec.limits[0].maxLimitRequestRatio[cpu]: FieldValueInvalid"],
    ],
    [
      "rejects a maxLimitRequestRatio above max/min",
      [{ type: "Pod", min: { cpu: "1" }, max: { cpu: "3" }, maxLimitRequestRatio: { cpu: "3.5" } }],
      ["spec.limits[0].maxLimitRequestRatio[cpu]: FieldValueInvalid"],
    ],
    [
      "accepts a maxLimitRequestRatio equal to max/min",
      [{ type: "Pod", min: { cpu: "1" }, max: { cpu: "3" }, maxLimitRequestRatio: { cpu: "3" } }],
      [],
    ],
    [
      "rejects a default and defaultRequest of an extended resource that differ",
      [
        {
          type: "Container",
          default: { "example.com/gpu": "2" },
          defaultRequest: { "example.com/gpu": "1" },
        },
      ],
      ["spec.limits[0].default[example.com/gpu]: FieldValueInvalid"],
    ],
  ])("%s", (_name, items, faults) => {
    expect(judgeNew(LimitRange, limits(...items)).faults.toSorted()).toEqual(faults.toSorted());
  });
});

describe("ResourceQuota", () => {
  it("a minimal object is valid, and the status of the request is ignored", () => {
    const { object, faults } = judgeNew(ResourceQuota, { status: { used: { cpu: "1" } } });
    expect(faults).toEqual([]);
    expect(object).toMatchObject({ spec: {}, status: {} });
    expect(object["status"]).toEqual({});
  });

  it("quantities are rounded up to 0.001", () => {
    expect(readAs(ResourceQuota, { spec: { hard: { cpu: "1n" } } })["spec"]).toEqual({ hard: { cpu: "1m" } });
    const status = { hard: { cpu: "1n" }, used: { cpu: "1n" } };
    expect(readAs(ResourceQuota, { status })["status"]).toEqual({ hard: { cpu: "1m" }, used: { cpu: "1m" } });
  });

  const condition = (scopeName: string, operator: string, values?: string[]) => ({
    scopeSelector: { matchExpressions: [{ scopeName, operator, values }] },
  });
  it.each<[string, object, string[]]>([
    [
      "accepts standard resources in hard",
      {
        hard: {
          pods: "1",
          "requests.cpu": "1",
          "limits.memory": "1Gi",
          "count/x.example.com": "1",
          "hugepages-2Mi": "1",
          "requests.hugepages-2Mi": "1",
        },
      },
      [],
    ],
    [
      "rejects an unknown resource",
      { hard: { other: "1" } },
      ["spec.hard[other]", "spec.hard[other]"].map((at) => `${at}: FieldValueInvalid`),
    ],
    [
      "rejects the resource storage without the prefix requests.",
      { hard: { storage: "1" } },
      ["spec.hard[storage]: FieldValueInvalid"],
    ],
    ["rejects a negative quantity", { hard: { cpu: "-1" } }, ["spec.hard[cpu]: FieldValueInvalid"]],
    [
      "rejects a fractional number of pods",
      { hard: { pods: "500m" } },
      ["spec.hard[pods]: FieldValueInvalid"],
    ],
    ["accepts valid scopes", { hard: { pods: "1" }, scopes: ["BestEffort", "NotTerminating"] }, []],
    ["rejects an unknown scope", { scopes: ["Other"] }, ["spec.scopes: FieldValueInvalid"]],
    [
      "rejects scopes that contradict each other",
      { scopes: ["Terminating", "NotTerminating"] },
      ["spec.scopes: FieldValueInvalid"],
    ],
    [
      "rejects a scope that doesn't apply to the resource",
      { hard: { cpu: "1" }, scopes: ["BestEffort"] },
      ["spec.scopes: FieldValueInvalid"],
    ],
    ["accepts a scopeSelector", { hard: { pods: "1" }, ...condition("PriorityClass", "In", ["high"]) }, []],
    [
      "rejects a scopeSelector with an unknown scope",
      condition("Other", "Exists"),
      ["spec.scopeSelector.matchExpressions.scopeName: FieldValueInvalid"],
    ],
    [
      "rejects a scopeSelector that doesn't apply to the resource",
      { hard: { services: "1" }, ...condition("PriorityClass", "Exists") },
      ["spec.scopeSelector.matchExpressions: FieldValueInvalid"],
    ],
    [
      "rejects a scopeSelector with an operator that the scope doesn't support",
      condition("BestEffort", "In", ["a"]),
      ["spec.scopeSelector.matchExpressions.operator: FieldValueInvalid"],
    ],
    [
      "rejects a scopeSelector with an unknown operator",
      condition("PriorityClass", "Like"),
      ["spec.scopeSelector.matchExpressions.operator: FieldValueInvalid"],
    ],
    [
      "rejects a scopeSelector with NotIn and no values",
      condition("PriorityClass", "NotIn"),
      ["spec.scopeSelector.matchExpressions.values: FieldValueRequired"],
    ],
    [
      "rejects a scopeSelector with Exists and values",
      condition("PriorityClass", "Exists", ["a"]),
      ["spec.scopeSelector.matchExpressions.values: FieldValueInvalid"],
    ],
  ])("%s", (_name, spec, faults) => {
    expect(judgeNew(ResourceQuota, { spec }).faults).toEqual(faults);
  });

  it("scopes are immutable except for their order, and hard can change", () => {
    const before = { spec: { hard: { pods: "1" }, scopes: ["BestEffort", "Terminating"] } };
    const turned = { spec: { hard: { pods: "2" }, scopes: ["Terminating", "BestEffort"] } };
    expect(judgeUpdate(ResourceQuota, before, turned).faults).toEqual([]);
    expect(judgeUpdate(ResourceQuota, before, { spec: { hard: { pods: "1" } } }).faults).toEqual([
      "spec.scopes: FieldValueInvalid",
    ]);
  });

  it("the status subresource changes only the status", () => {
    const now = { spec: { hard: { pods: "5" } }, status: { hard: { other: "1" }, used: { pods: "500m" } } };
    const { object, faults } = judgeUpdate(ResourceQuota, {}, now, { subresource: "status" });
    expect(object["spec"]).toEqual({});
    expect([...new Set(faults)]).toEqual([
      "status.hard[other]: FieldValueInvalid",
      "status.used[pods]: FieldValueInvalid",
    ]);
    expect(judgeUpdate(ResourceQuota, {}, now).object["status"]).toEqual({});
  });

  it("shows its table cells", () => {
    const status = {
      hard: { pods: "10", "limits.cpu": "2", cpu: "1", "limits.memory": "1Gi" },
      used: { pods: "1", "limits.cpu": "500m" },
    };
    const metadata = { name: "q", creationTimestamp: "2023-12-31T23:59:30Z" };
    expect(cellsOf(ResourceQuota, { metadata, status })).toEqual({
      Name: "q",
      Age: "30s",
      Request: "cpu: 0/1, pods: 1/10",
      Limit: "limits.cpu: 500m/2, limits.memory: 0/1Gi",
    });
  });
});
