import type { MetricSpec as OldMetric, MetricStatus as OldStatus } from "./metric-annotations.ts";
import type { MetricSpec } from "./metric-spec.ts";
import type { MetricStatus } from "./metric-status.ts";

/*
 * Metrics as in the annotations of v1 objects, and as in version v2. Members that are undefined in a result count as
 * absent.
 */

/** Converts a metric of an annotation to v2. */
export function metricFromOld(metric: OldMetric): MetricSpec {
  const { type, object, pods, resource, external, containerResource } = metric;
  return {
    type,
    object: object && {
      describedObject: object.target,
      metric: { name: object.metricName, selector: object.selector },
      target: {
        type: object.averageValue === undefined ? "Value" : "AverageValue",
        // The annotation always has a value; zero means absent.
        value: object.targetValue === "0" ? undefined : object.targetValue,
        averageValue: object.averageValue,
      },
    },
    pods: pods && {
      metric: { name: pods.metricName, selector: pods.selector },
      target: { type: "AverageValue", averageValue: pods.targetAverageValue },
    },
    resource: resource && { name: resource.name, target: resourceTarget(resource) },
    external: external && {
      metric: { name: external.metricName, selector: external.metricSelector },
      target: {
        type: external.targetValue === undefined ? "AverageValue" : "Value",
        value: external.targetValue,
        averageValue: external.targetAverageValue,
      },
    },
    containerResource: containerResource && {
      name: containerResource.name,
      container: containerResource.container,
      target: resourceTarget(containerResource),
    },
  };
}

interface OldResource {
  readonly targetAverageUtilization?: number | undefined;
  readonly targetAverageValue?: string | undefined;
}

function resourceTarget({ targetAverageUtilization, targetAverageValue }: OldResource) {
  return {
    type: targetAverageUtilization === undefined ? "AverageValue" : "Utilization",
    averageUtilization: targetAverageUtilization,
    averageValue: targetAverageValue,
  };
}

/** Converts a metric to the form of the annotations. */
export function metricToOld(metric: MetricSpec): OldMetric {
  const { type, object, pods, resource, external, containerResource } = metric;
  return {
    type,
    object: object && {
      target: object.describedObject,
      metricName: object.metric.name,
      targetValue: object.target.value ?? "0",
      selector: object.metric.selector,
      averageValue: object.target.averageValue,
    },
    pods: pods && {
      metricName: pods.metric.name,
      targetAverageValue: pods.target.averageValue ?? "0",
      selector: pods.metric.selector,
    },
    resource: resource && { name: resource.name, ...oldTarget(resource.target) },
    external: external && {
      metricName: external.metric.name,
      metricSelector: external.metric.selector,
      targetValue: external.target.value,
      targetAverageValue: external.target.averageValue,
    },
    containerResource: containerResource && {
      name: containerResource.name,
      ...oldTarget(containerResource.target),
      container: containerResource.container,
    },
  };
}

interface NewTarget {
  readonly averageUtilization?: number | undefined;
  readonly averageValue?: string | undefined;
}

function oldTarget({ averageUtilization, averageValue }: NewTarget): OldResource {
  return { targetAverageUtilization: averageUtilization, targetAverageValue: averageValue };
}

/** Converts a metric status of an annotation to v2. */
export function statusFromOld(metric: OldStatus): MetricStatus {
  const { type, object, pods, resource, external, containerResource } = metric;
  return {
    type,
    object: object && {
      metric: { name: object.metricName, selector: object.selector },
      current: { value: object.currentValue, averageValue: object.averageValue },
      describedObject: object.target,
    },
    pods: pods && {
      metric: { name: pods.metricName, selector: pods.selector },
      current: { averageValue: pods.currentAverageValue },
    },
    resource: resource && { name: resource.name, current: resourceCurrent(resource) },
    external: external && {
      metric: { name: external.metricName, selector: external.metricSelector },
      current: { value: external.currentValue, averageValue: external.currentAverageValue },
    },
    containerResource: containerResource && {
      name: containerResource.name,
      container: containerResource.container,
      current: resourceCurrent(containerResource),
    },
  };
}

interface OldCurrent {
  readonly currentAverageUtilization?: number | undefined;
  readonly currentAverageValue: string;
}

function resourceCurrent({ currentAverageUtilization, currentAverageValue }: OldCurrent) {
  return { averageUtilization: currentAverageUtilization, averageValue: currentAverageValue };
}

/** Converts a metric status to the form of the annotations. */
export function statusToOld(metric: MetricStatus): OldStatus {
  const { type, object, pods, resource, external, containerResource } = metric;
  return {
    type,
    object: object && {
      target: object.describedObject,
      metricName: object.metric.name,
      currentValue: object.current.value ?? "0",
      selector: object.metric.selector,
      averageValue: object.current.averageValue,
    },
    pods: pods && {
      metricName: pods.metric.name,
      currentAverageValue: pods.current.averageValue ?? "0",
      selector: pods.metric.selector,
    },
    resource: resource && { name: resource.name, ...oldCurrent(resource.current) },
    external: external && {
      metricName: external.metric.name,
      metricSelector: external.metric.selector,
      currentValue: external.current.value ?? "0",
      currentAverageValue: external.current.averageValue,
    },
    containerResource: containerResource && {
      name: containerResource.name,
      ...oldCurrent(containerResource.current),
      container: containerResource.container,
    },
  };
}

function oldCurrent({ averageUtilization, averageValue = "0" }: NewTarget): OldCurrent {
  return { currentAverageUtilization: averageUtilization, currentAverageValue: averageValue };
}
