import { describe, expect, it } from "vitest";
import { HorizontalPodAutoscaler as OldAutoscaler } from "../../src/kinds/autoscaling/horizontal-pod-autoscaler-v1.ts";
import { HorizontalPodAutoscaler } from "../../src/kinds/autoscaling/horizontal-pod-autoscaler.ts";
import { decode } from "../../src/schema/decode.ts";
import type { ApiObject } from "../../src/schema/kind.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import type { Part } from "./pod-support.ts";
import { cellsOf, readAs } from "./support.ts";
import {
  scaleTargetRef,
  withSpec,
  processors,
  average,
  plain,
  metric,
} from "./horizontal-pod-autoscaler-support.ts";

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

  it("is converted to an autoscaler with a cpu metric in v2", () => {
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

  it("writes v2 fields that v1 lacks to annotations in the format of the reference", () => {
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

  it("is converted from v2 to v1 and back without loss when the cpu metric is last", () => {
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

  it("ignores invalid annotations", () => {
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

  it("shows the table cells of v2", () => {
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
