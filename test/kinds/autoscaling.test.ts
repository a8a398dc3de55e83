import { describe, expect, it } from "vitest";
import { HorizontalPodAutoscaler as OldAutoscaler } from "../../src/kinds/autoscaling/horizontal-pod-autoscaler-v1.ts";
import { HorizontalPodAutoscaler } from "../../src/kinds/autoscaling/horizontal-pod-autoscaler.ts";
import { Scale } from "../../src/kinds/autoscaling/scale.ts";
import { decode } from "../../src/schema/decode.ts";
import type { ApiObject } from "../../src/schema/kind.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import type { Part } from "./pod-support.ts";
import { cellsOf, judgeNew, judgeUpdate, readAs } from "./support.ts";

const short = (faults: readonly string[]) => faults.map((fault) => fault.replace("FieldValue", ""));

const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const withSpec = (part: Part): Part => ({ spec: { scaleTargetRef, maxReplicas: 5, ...part } });
const withMetric = (metric: Part): Part => withSpec({ metrics: [metric] });
const processors = (percent: number) => ({
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: percent } },
});
const average = { type: "AverageValue", averageValue: "10" };
const plain = { type: "Value", value: "10" };
const metric = { name: "hits" };
const gates = ["HPAContainerMetrics"];

describe("HorizontalPodAutoscaler v2", () => {
  it("goes by the use of processors unless it is told otherwise", () => {
    const { object, faults } = judgeNew(HorizontalPodAutoscaler, withSpec({}));
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({
      scaleTargetRef,
      minReplicas: 1,
      maxReplicas: 5,
      metrics: [processors(80)],
    });
    expect(object["status"]).toEqual({ desiredReplicas: 0, currentMetrics: null });
  });

  it("fills in how fast is scaled where anything is said of it", () => {
    const { spec } = readAs(
      HorizontalPodAutoscaler,
      withSpec({ behavior: { scaleDown: { selectPolicy: "Min" } } }),
    );
    expect(spec).toHaveProperty("behavior", {
      scaleUp: {
        stabilizationWindowSeconds: 0,
        selectPolicy: "Max",
        policies: [
          { type: "Pods", value: 4, periodSeconds: 15 },
          { type: "Percent", value: 100, periodSeconds: 15 },
        ],
      },
      scaleDown: {
        selectPolicy: "Min",
        policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
      },
    });
  });

  it.each([
    ["no kind", { scaleTargetRef: { name: "web" } }, [".scaleTargetRef.kind: Required"]],
    ["no name", { scaleTargetRef: { kind: "X" } }, [".scaleTargetRef.name: Required"]],
    [
      "a name with a slash",
      { scaleTargetRef: { kind: "X", name: "a/b" } },
      [".scaleTargetRef.name: Invalid"],
    ],
    [
      "no highest number",
      { maxReplicas: 0, minReplicas: undefined },
      [".maxReplicas: Invalid", ".maxReplicas: Invalid"],
    ],
    ["a lowest number above it", { minReplicas: 6 }, [".maxReplicas: Invalid"]],
    ["no pods at all", { minReplicas: 0 }, [".metrics: Forbidden", ".minReplicas: Invalid"]],
    [
      "a policy without values",
      { behavior: { scaleUp: { policies: [{ type: "Some" }] } } },
      [
        "policies[0].type: NotSupported",
        "policies[0].value: Invalid",
        "policies[0].periodSeconds: Invalid",
      ].map((fault) => `.behavior.scaleUp.${fault}`),
    ],
    [
      "a policy for too long a time",
      { behavior: { scaleUp: { policies: [{ type: "Pods", value: 1, periodSeconds: 1801 }] } } },
      [".behavior.scaleUp.policies[0].periodSeconds: Invalid"],
    ],
    [
      "too long a window",
      {
        behavior: {
          scaleUp: { stabilizationWindowSeconds: 3601 },
          scaleDown: { stabilizationWindowSeconds: -1 },
        },
      },
      [
        ".behavior.scaleUp.stabilizationWindowSeconds: Invalid",
        ".behavior.scaleDown.stabilizationWindowSeconds: Invalid",
      ],
    ],
    [
      "another choice of policies",
      { behavior: { scaleDown: { selectPolicy: "Any" } } },
      [".behavior.scaleDown.selectPolicy: NotSupported"],
    ],
  ])("%s: refused", (_title, part, faults) => {
    expect(short(judgeNew(HorizontalPodAutoscaler, withSpec(part)).faults)).toEqual(
      faults.map((fault) => `spec${fault}`),
    );
  });

  it.each([
    ["a resource", { type: "Resource", resource: { name: "memory", target: average } }],
    [
      "a container's resource",
      { type: "ContainerResource", containerResource: { name: "cpu", container: "a", target: average } },
    ],
    ["the pods", { type: "Pods", pods: { metric, target: average } }],
    ["an object", { type: "Object", object: { metric, describedObject: scaleTargetRef, target: plain } }],
    ["something outside", { type: "External", external: { metric, target: plain } }],
  ])("takes a metric of %s", (_title, one) => {
    expect(judgeNew(HorizontalPodAutoscaler, withMetric(one), { gates }).faults).toEqual([]);
  });

  it.each([
    ["no type", {}, [".type: NotSupported", ".type: Required"]],
    ["another type", { type: "Moon" }, [".type: NotSupported"]],
    ["nothing for its type", { type: "Pods" }, [".pods: Required"]],
    [
      "something for another type too",
      { ...processors(50), pods: { metric, target: average } },
      [".pods: Forbidden"],
    ],
    [
      "a resource without aim",
      { type: "Resource", resource: { name: "cpu", target: { type: "Utilization" } } },
      [".resource.target.averageUtilization: Required"],
    ],
    [
      "a resource with two aims",
      { type: "Resource", resource: { name: "cpu", target: { ...average, averageUtilization: 1 } } },
      [".resource.target.averageValue: Forbidden"],
    ],
    [
      "a resource without name",
      { type: "Resource", resource: { target: average } },
      [".resource.name: Required"],
    ],
    [
      "no use at all",
      { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 0 } } },
      [".resource.target.averageUtilization: Invalid"],
    ],
    [
      "a container without name",
      { type: "ContainerResource", containerResource: { name: "cpu", target: average } },
      [".containerResource.container: Required"],
    ],
    [
      "no average of the pods",
      { type: "Pods", pods: { metric, target: plain } },
      [".pods.target.averageValue: Required"],
    ],
    [
      "an object without aim",
      { type: "Object", object: { metric, describedObject: scaleTargetRef, target: { type: "Value" } } },
      [".object.target.averageValue: Required"],
    ],
    [
      "two aims outside",
      { type: "External", external: { metric, target: { ...plain, averageValue: "1" } } },
      [".external.target.value: Forbidden"],
    ],
    [
      "no aim outside",
      { type: "External", external: { metric, target: { type: "Value" } } },
      [".external.target.averageValue: Required"],
    ],
    [
      "a type of aim that isn't known",
      { type: "External", external: { metric, target: { type: "Some", value: "1" } } },
      [".external.target.type: Invalid"],
    ],
    [
      "aims below zero",
      { type: "External", external: { metric, target: { type: "Value", value: "-1" } } },
      [".external.target.value: Invalid"],
    ],
    [
      "a metric whose name has a slash",
      { type: "External", external: { metric: { name: "a/b" }, target: plain } },
      [".external.metric.name: Invalid"],
    ],
  ])("a metric with %s: refused", (_title, one, faults) => {
    const judged = judgeNew(HorizontalPodAutoscaler, withMetric(one), { gates });
    expect(short(judged.faults).toSorted()).toEqual(
      faults.map((fault) => `spec.metrics[0]${fault}`).toSorted(),
    );
  });

  it("may go down to no pods where the gate is on and a metric can say that some are needed", () => {
    const external = { type: "External", external: { metric, target: plain } };
    const none = withSpec({ minReplicas: 0, metrics: [external] });
    const scaleToZero = { gates: ["HPAScaleToZero"] };
    expect(judgeNew(HorizontalPodAutoscaler, none, scaleToZero).faults).toEqual([]);
    expect(judgeUpdate(HorizontalPodAutoscaler, none, none).faults).toEqual([]);
    expect(short(judgeUpdate(HorizontalPodAutoscaler, withSpec({}), none).faults)).toEqual([
      "spec.minReplicas: Invalid",
    ]);
  });

  it("has a status of its own", () => {
    const status = { currentReplicas: 2, desiredReplicas: 3, currentMetrics: null };
    const write = (given: Part) =>
      judgeUpdate(
        HorizontalPodAutoscaler,
        withSpec({}),
        { ...withSpec({ maxReplicas: 9 }), status: given },
        { subresource: "status" },
      );
    expect(write(status).object).toMatchObject({ spec: { maxReplicas: 5 }, status });
    expect(short(write({ currentReplicas: -1, desiredReplicas: -1 }).faults)).toEqual([
      "status.currentReplicas: Invalid",
      "status.desiredReplicas: Invalid",
    ]);
  });

  it("has a row", () => {
    const metrics = [
      processors(80),
      { type: "Pods", pods: { metric, target: average } },
      { type: "External", external: { metric, target: plain } },
    ];
    const status = {
      currentReplicas: 2,
      currentMetrics: [
        {
          type: "Resource",
          resource: { name: "cpu", current: { averageUtilization: 40, averageValue: "1" } },
        },
      ],
    };
    expect(cellsOf(HorizontalPodAutoscaler, { ...withSpec({ metrics }), status })).toEqual({
      Name: "one",
      Reference: "Deployment/web",
      Targets: "40%/80%, <unknown>/10 + 1 more...",
      MinPods: "1",
      MaxPods: 5,
      Replicas: 2,
      Age: "<unknown>",
    });
    const targets = (one: object) => cellsOf(HorizontalPodAutoscaler, withMetric(one as Part))["Targets"];
    expect(targets({ type: "External", external: { metric, target: average } })).toBe("<unknown>/10 (avg)");
    expect(targets({ type: "Object", object: { target: plain } })).toBe("<unknown>/10");
    expect(targets({ type: "Resource", resource: { name: "cpu", target: {} } })).toBe("<unknown>/<auto>");
    expect(targets({ type: "Moon" })).toBe("<unknown type>");
  });
});

describe("HorizontalPodAutoscaler v1", () => {
  const context = { vocabulary: platform, enabled: () => false, subresource: "" };
  const conversion = OldAutoscaler.conversion!;
  const stored = (old: Part): ApiObject => {
    const object = conversion.toStored(readAs(OldAutoscaler, old), context);
    return readAs(HorizontalPodAutoscaler, decode(HorizontalPodAutoscaler.type, object).value);
  };
  const shown = (now: object): ApiObject =>
    decode(OldAutoscaler.type, conversion.fromStored(readAs(HorizontalPodAutoscaler, now), context))
      .value as ApiObject;

  it("is an autoscaler by processors in v2", () => {
    expect(stored(withSpec({ targetCPUUtilizationPercentage: 60 }))["spec"]).toEqual({
      scaleTargetRef,
      minReplicas: 1,
      maxReplicas: 5,
      metrics: [processors(60)],
    });
    expect(stored(withSpec({}))["spec"]).toHaveProperty("metrics", [processors(80)]);
    const status = { currentReplicas: 1, desiredReplicas: 2, currentCPUUtilizationPercentage: 33 };
    expect(stored({ ...withSpec({}), status })["status"]).toEqual({
      currentReplicas: 1,
      desiredReplicas: 2,
      currentMetrics: [{ type: "Resource", resource: { name: "cpu", current: { averageUtilization: 33 } } }],
    });
  });

  it("shows what it can't say in annotations of the reference's own spelling", () => {
    const now = {
      ...withSpec({
        metrics: [processors(60), { type: "Pods", pods: { metric, target: average } }],
        behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
      }),
      metadata: { name: "one", annotations: { mine: "x" } },
      status: {
        desiredReplicas: 2,
        currentMetrics: [
          {
            type: "Resource",
            resource: { name: "cpu", current: { averageUtilization: 33, averageValue: "1" } },
          },
        ],
        conditions: [{ type: "AbleToScale", status: "True", lastTransitionTime: "2024-01-01T00:00:00Z" }],
      },
    };
    const old = shown(now);
    expect(old["spec"]).toEqual({
      scaleTargetRef,
      minReplicas: 1,
      maxReplicas: 5,
      targetCPUUtilizationPercentage: 60,
    });
    expect(old["status"]).toEqual({
      currentReplicas: 0,
      desiredReplicas: 2,
      currentCPUUtilizationPercentage: 33,
    });
    expect(old.metadata.annotations).toEqual({
      mine: "x",
      "autoscaling.alpha.platform.io/metrics":
        '[{"type":"Pods","pods":{"metricName":"hits","targetAverageValue":"10"}}]',
      "autoscaling.alpha.platform.io/current-metrics":
        '[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":33,"currentAverageValue":"1"}}]',
      "autoscaling.alpha.platform.io/conditions":
        '[{"type":"AbleToScale","status":"True","lastTransitionTime":"2024-01-01T00:00:00Z"}]',
      "autoscaling.alpha.platform.io/behavior":
        '{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15},{"Type":"Percent","Value":100,"PeriodSeconds":15}]},' +
        '"ScaleDown":{"StabilizationWindowSeconds":60,"SelectPolicy":"Max","Policies":[{"Type":"Percent","Value":100,"PeriodSeconds":15}]}}',
    });
  });

  it("loses nothing on the way to v1 and back, but for the order of the metrics", () => {
    const now = {
      ...withSpec({
        metrics: [
          { type: "Resource", resource: { name: "memory", target: average } },
          {
            type: "Pods",
            pods: { metric: { name: "hits", selector: { matchLabels: { a: "b" } } }, target: average },
          },
          { type: "Object", object: { describedObject: scaleTargetRef, target: plain, metric } },
          { type: "External", external: { metric, target: average } },
          { type: "ContainerResource", containerResource: { name: "cpu", target: average, container: "a" } },
          processors(60),
        ],
        behavior: { scaleUp: { selectPolicy: "Disabled" } },
      }),
      status: {
        observedGeneration: 3,
        lastScaleTime: "2024-01-01T00:00:00Z",
        currentReplicas: 1,
        desiredReplicas: 2,
        currentMetrics: [
          {
            type: "Resource",
            resource: { name: "cpu", current: { averageValue: "1", averageUtilization: 33 } },
          },
          { type: "Pods", pods: { metric, current: { averageValue: "5" } } },
          { type: "Object", object: { metric, current: { value: "5" }, describedObject: scaleTargetRef } },
          { type: "External", external: { metric, current: { value: "5", averageValue: "2" } } },
          {
            type: "ContainerResource",
            containerResource: { name: "cpu", current: { averageValue: "5" }, container: "a" },
          },
        ],
        conditions: [
          { type: "AbleToScale", status: "True", lastTransitionTime: "2024-01-01T00:00:00Z", reason: "R" },
        ],
      },
    };
    const there = readAs(HorizontalPodAutoscaler, now);
    const { spec, status, metadata } = stored(shown(now));
    expect(spec).toEqual(there["spec"]);
    expect(status).toEqual(there["status"]);
    expect(metadata.annotations).toBeUndefined();
  });

  it("ignores annotations that it can't read", () => {
    const annotations = {
      "autoscaling.alpha.platform.io/metrics": "nonsense",
      "autoscaling.alpha.platform.io/current-metrics": '{"a":1}',
      "autoscaling.alpha.platform.io/behavior": '{"ScaleUp":[]}',
      "autoscaling.alpha.platform.io/conditions": "[1]",
    };
    const { spec, status, metadata } = stored({ ...withSpec({}), metadata: { name: "one", annotations } });
    expect(spec).toEqual({ scaleTargetRef, minReplicas: 1, maxReplicas: 5, metrics: [processors(80)] });
    expect(status).toEqual({ desiredReplicas: 0, currentMetrics: null });
    expect(metadata.annotations).toBeUndefined();
  });

  it("has the row of v2", () => {
    const old = shown(withSpec({ metrics: [{ type: "Pods", pods: { metric, target: average } }] }));
    expect(cellsOf(OldAutoscaler, old)).toMatchObject({
      Reference: "Deployment/web",
      Targets: "<unknown>/10",
      MinPods: "1",
      MaxPods: 5,
      Replicas: 0,
    });
  });
});

describe("Scale", () => {
  it("asks for zero or more replicas", () => {
    expect(judgeNew(Scale, { spec: { replicas: 0 } }).faults).toEqual([]);
    expect(judgeNew(Scale, { spec: { replicas: -1 } }).faults).toEqual(["spec.replicas: FieldValueInvalid"]);
  });
  it("has a row", () => {
    expect(cellsOf(Scale, { spec: { replicas: 3 }, status: { replicas: 2 } })).toEqual({
      Name: "one",
      Desired: 3,
      Available: 2,
      Age: "<unknown>",
    });
  });
});
