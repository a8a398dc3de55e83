import { struct } from "./v1.ts";
import { type Static, field, int32, quantity, string, time } from "../../schema/types.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { metricMembers } from "./metric-spec.ts";
import { CrossVersionObjectReference } from "./object-reference-v1.ts";

export const HorizontalPodAutoscalerCondition = struct(
  "HorizontalPodAutoscalerCondition",
  "A condition of an autoscaler.",
  {
    type: field(1, string, "Type of the condition, such as AbleToScale.")
      .declaredRequired()
      .knownValues("AbleToScale", "ScalingActive", "ScalingLimited"),
    status: field(2, string, "Status of the condition: True, False or Unknown.")
      .declaredRequired()
      .knownValues("False", "True", "Unknown"),
    lastTransitionTime: field(3, time, "Time of the last change of `status`.").emitEmpty(),
    reason: field(4, string, "Machine-readable reason in CamelCase."),
    message: field(5, string, "Human-readable details."),
  },
);

const ObjectMetricSource = struct("ObjectMetricSource", "A metric of one object.", {
  target: field(1, CrossVersionObjectReference, "The object that the metric describes.").declaredRequired(),
  metricName: field(2, string, "Name of the metric.").declaredRequired(),
  targetValue: field(3, quantity, "Target value of the metric.").declaredRequired(),
  selector: field(4, LabelSelector, "Label selector that narrows the metric.").nullable(),
  averageValue: field(5, quantity, "Target average value per pod.").nullable(),
});

const PodsMetricSource = struct("PodsMetricSource", "Average of a metric over the pods.", {
  metricName: field(1, string, "Name of the metric.").declaredRequired(),
  targetAverageValue: field(2, quantity, "Target average value per pod.").declaredRequired(),
  selector: field(3, LabelSelector, "Label selector that narrows the metric.").nullable(),
});

const ResourceMetricSource = struct("ResourceMetricSource", "Resource usage of the pods.", {
  name: field(1, string, "Name of the resource.").declaredRequired(),
  targetAverageUtilization: field(
    2,
    int32,
    "Target average use, as a percentage of the requested amount.",
  ).nullable(),
  targetAverageValue: field(3, quantity, "Target average value per pod.").nullable(),
});

const ExternalMetricSource = struct("ExternalMetricSource", "A metric from outside the cluster.", {
  metricName: field(1, string, "Name of the metric.").declaredRequired(),
  metricSelector: field(2, LabelSelector, "Label selector that narrows the metric.").nullable(),
  targetValue: field(3, quantity, "Target value of the metric.").nullable(),
  targetAverageValue: field(4, quantity, "Target average value per pod.").nullable(),
});

const ContainerResourceMetricSource = struct(
  "ContainerResourceMetricSource",
  "Usage of a resource by one container of the pods.",
  {
    name: field(1, string, "Name of the resource.").declaredRequired(),
    targetAverageUtilization: field(
      2,
      int32,
      "Target average use, as a percentage of the requested amount.",
    ).nullable(),
    targetAverageValue: field(3, quantity, "Target average value per pod.").nullable(),
    container: field(5, string, "Name of the container.").declaredRequired(),
  },
);

export const MetricSpec = struct("MetricSpec", "A metric and its target value.", {
  type: field(1, string, "Type of the metric source; the field with this name is set.")
    .declaredRequired()
    .oneOf("ContainerResource", "External", "Object", "Pods", "Resource"),
  ...metricMembers({
    object: ObjectMetricSource,
    pods: PodsMetricSource,
    resource: ResourceMetricSource,
    external: ExternalMetricSource,
    containerResource: ContainerResourceMetricSource,
  }),
});
export type MetricSpec = Static<typeof MetricSpec>;

const ObjectMetricStatus = struct("ObjectMetricStatus", "Current value of a metric of one object.", {
  target: field(1, CrossVersionObjectReference, "The object that the metric describes.").declaredRequired(),
  metricName: field(2, string, "Name of the metric.").declaredRequired(),
  currentValue: field(3, quantity, "Current value of the metric.").declaredRequired(),
  selector: field(4, LabelSelector, "Label selector that narrows the metric.").nullable(),
  averageValue: field(5, quantity, "Current average value per pod.").nullable(),
});

const PodsMetricStatus = struct("PodsMetricStatus", "Current average of a metric over the pods.", {
  metricName: field(1, string, "Name of the metric.").declaredRequired(),
  currentAverageValue: field(2, quantity, "Current average value per pod.").declaredRequired(),
  selector: field(3, LabelSelector, "Label selector that narrows the metric.").nullable(),
});

const ResourceMetricStatus = struct("ResourceMetricStatus", "Current usage of a resource by the pods.", {
  name: field(1, string, "Name of the resource.").declaredRequired(),
  currentAverageUtilization: field(
    2,
    int32,
    "Current average use, as a percentage of the requested amount.",
  ).nullable(),
  currentAverageValue: field(3, quantity, "Current average value per pod.").declaredRequired(),
});

const ExternalMetricStatus = struct(
  "ExternalMetricStatus",
  "Current value of a metric from outside the cluster.",
  {
    metricName: field(1, string, "Name of the metric.").declaredRequired(),
    metricSelector: field(2, LabelSelector, "Label selector that narrows the metric.").nullable(),
    currentValue: field(3, quantity, "Current value of the metric.").declaredRequired(),
    currentAverageValue: field(4, quantity, "Current average value per pod.").nullable(),
  },
);

const ContainerResourceMetricStatus = struct(
  "ContainerResourceMetricStatus",
  "Current usage of a resource by one container of the pods.",
  {
    name: field(1, string, "Name of the resource.").declaredRequired(),
    currentAverageUtilization: field(
      2,
      int32,
      "Current average use, as a percentage of the requested amount.",
    ).nullable(),
    currentAverageValue: field(3, quantity, "Current average value per pod.").declaredRequired(),
    container: field(4, string, "Name of the container.").declaredRequired(),
  },
);

export const MetricStatus = struct("MetricStatus", "Last observed value of a metric.", {
  type: field(1, string, "Type of the metric source; the field with this name is set.")
    .declaredRequired()
    .oneOf("ContainerResource", "External", "Object", "Pods", "Resource"),
  ...metricMembers({
    object: ObjectMetricStatus,
    pods: PodsMetricStatus,
    resource: ResourceMetricStatus,
    external: ExternalMetricStatus,
    containerResource: ContainerResourceMetricStatus,
  }),
});
export type MetricStatus = Static<typeof MetricStatus>;
