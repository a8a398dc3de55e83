import { describe, expect, it } from "vitest";
import { HorizontalPodAutoscaler } from "../../src/kinds/autoscaling/horizontal-pod-autoscaler.ts";
import type { Part } from "./pod-support.ts";
import { cellsOf, judgeNew, judgeUpdate, readAs } from "./support.ts";
import {
  scaleTargetRef,
  withSpec,
  processors,
  average,
  plain,
  metric,
} from "./horizontal-pod-autoscaler-support.ts";

const short = (faults: readonly string[]) => faults.map((fault) => fault.replace("FieldValue", ""));
const withMetric = (metric: Part): Part => withSpec({ metrics: [metric] });
const gates = ["HPAContainerMetrics"];

describe("HorizontalPodAutoscaler v2", () => {
  it("defaults to a cpu metric with 80% utilization", () => {
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

  it("sets the default values of a partial behavior", () => {
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
    [
      "a scaleTargetRef without kind",
      { scaleTargetRef: { name: "web" } },
      [".scaleTargetRef.kind: Required"],
    ],
    ["a scaleTargetRef without name", { scaleTargetRef: { kind: "X" } }, [".scaleTargetRef.name: Required"]],
    [
      "a scaleTargetRef name with a slash",
      { scaleTargetRef: { kind: "X", name: "a/b" } },
      [".scaleTargetRef.name: Invalid"],
    ],
    [
      "maxReplicas 0",
      { maxReplicas: 0, minReplicas: undefined },
      [".maxReplicas: Invalid", ".maxReplicas: Invalid"],
    ],
    ["minReplicas above maxReplicas", { minReplicas: 6 }, [".maxReplicas: Invalid"]],
    ["minReplicas 0", { minReplicas: 0 }, [".metrics: Forbidden", ".minReplicas: Invalid"]],
    [
      "a scaling policy with an unknown type and no values",
      { behavior: { scaleUp: { policies: [{ type: "Some" }] } } },
      [
        "policies[0].type: NotSupported",
        "policies[0].value: Invalid",
        "policies[0].periodSeconds: Invalid",
      ].map((fault) => `.behavior.scaleUp.${fault}`),
    ],
    [
      "a scaling policy with periodSeconds above 1800",
      { behavior: { scaleUp: { policies: [{ type: "Pods", value: 1, periodSeconds: 1801 }] } } },
      [".behavior.scaleUp.policies[0].periodSeconds: Invalid"],
    ],
    [
      "a stabilizationWindowSeconds out of range",
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
      "an unknown selectPolicy",
      { behavior: { scaleDown: { selectPolicy: "Any" } } },
      [".behavior.scaleDown.selectPolicy: NotSupported"],
    ],
  ])("rejects %s", (_title, part, faults) => {
    expect(short(judgeNew(HorizontalPodAutoscaler, withSpec(part)).faults)).toEqual(
      faults.map((fault) => `spec${fault}`),
    );
  });

  it.each([
    ["type Resource", { type: "Resource", resource: { name: "memory", target: average } }],
    [
      "type ContainerResource",
      { type: "ContainerResource", containerResource: { name: "cpu", container: "a", target: average } },
    ],
    ["type Pods", { type: "Pods", pods: { metric, target: average } }],
    ["type Object", { type: "Object", object: { metric, describedObject: scaleTargetRef, target: plain } }],
    ["type External", { type: "External", external: { metric, target: plain } }],
  ])("accepts a metric of %s", (_title, one) => {
    expect(judgeNew(HorizontalPodAutoscaler, withMetric(one), { gates }).faults).toEqual([]);
  });

  it.each([
    ["a missing type", {}, [".type: NotSupported", ".type: Required"]],
    ["an unknown type", { type: "Moon" }, [".type: NotSupported"]],
    ["type Pods without pods", { type: "Pods" }, [".pods: Required"]],
    [
      "type Resource together with pods",
      { ...processors(50), pods: { metric, target: average } },
      [".pods: Forbidden"],
    ],
    [
      "a Resource target without averageUtilization",
      { type: "Resource", resource: { name: "cpu", target: { type: "Utilization" } } },
      [".resource.target.averageUtilization: Required"],
    ],
    [
      "a Resource target with both averageValue and averageUtilization",
      { type: "Resource", resource: { name: "cpu", target: { ...average, averageUtilization: 1 } } },
      [".resource.target.averageValue: Forbidden"],
    ],
    [
      "a Resource metric without a name",
      { type: "Resource", resource: { target: average } },
      [".resource.name: Required"],
    ],
    [
      "averageUtilization 0",
      { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 0 } } },
      [".resource.target.averageUtilization: Invalid"],
    ],
    [
      "a ContainerResource metric without a container",
      { type: "ContainerResource", containerResource: { name: "cpu", target: average } },
      [".containerResource.container: Required"],
    ],
    [
      "a Pods target without averageValue",
      { type: "Pods", pods: { metric, target: plain } },
      [".pods.target.averageValue: Required"],
    ],
    [
      "an Object target without a value",
      { type: "Object", object: { metric, describedObject: scaleTargetRef, target: { type: "Value" } } },
      [".object.target.averageValue: Required"],
    ],
    [
      "an External target with both value and averageValue",
      { type: "External", external: { metric, target: { ...plain, averageValue: "1" } } },
      [".external.target.value: Forbidden"],
    ],
    [
      "an External target without a value",
      { type: "External", external: { metric, target: { type: "Value" } } },
      [".external.target.averageValue: Required"],
    ],
    [
      "an unknown target type",
      { type: "External", external: { metric, target: { type: "Some", value: "1" } } },
      [".external.target.type: Invalid"],
    ],
    [
      "a negative target value",
      { type: "External", external: { metric, target: { type: "Value", value: "-1" } } },
      [".external.target.value: Invalid"],
    ],
    [
      "a metric name with a slash",
      { type: "External", external: { metric: { name: "a/b" }, target: plain } },
      [".external.metric.name: Invalid"],
    ],
  ])("rejects a metric: %s", (_title, one, faults) => {
    const judged = judgeNew(HorizontalPodAutoscaler, withMetric(one), { gates });
    expect(short(judged.faults).toSorted()).toEqual(
      faults.map((fault) => `spec.metrics[0]${fault}`).toSorted(),
    );
  });

  it("allows minReplicas 0 when HPAScaleToZero is enabled with an external metric, or when it was stored", () => {
    const external = { type: "External", external: { metric, target: plain } };
    const none = withSpec({ minReplicas: 0, metrics: [external] });
    const scaleToZero = { gates: ["HPAScaleToZero"] };
    expect(judgeNew(HorizontalPodAutoscaler, none, scaleToZero).faults).toEqual([]);
    expect(judgeUpdate(HorizontalPodAutoscaler, none, none).faults).toEqual([]);
    expect(short(judgeUpdate(HorizontalPodAutoscaler, withSpec({}), none).faults)).toEqual([
      "spec.minReplicas: Invalid",
    ]);
  });

  it("the status subresource changes only the status, and rejects negative replicas", () => {
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

  it("shows its table cells", () => {
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
