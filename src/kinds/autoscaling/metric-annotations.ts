import { struct } from "./v1.ts";
import { type Static, field, int32, quantity, string, time } from "../../schema/types.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { metricMembers } from "./metric-members.ts";
import { CrossVersionObjectReference } from "./object-reference-v1.ts";

export const HorizontalPodAutoscalerCondition = struct(
  "HorizontalPodAutoscalerCondition",
  "One aspect of an autoscaler's state.",
  {
    type: field(1, string, "What the condition is about.")
      .declaredRequired()
      .knownValues("AbleToScale", "ScalingActive", "ScalingLimited"),
    status: field(2, string, "Whether it holds.").declaredRequired().knownValues("False", "True", "Unknown"),
    lastTransitionTime: field(3, time, "When the status last changed.").emitEmpty(),
    reason: field(4, string, "Short reason for programs."),
    message: field(5, string, "Explanation for people."),
  },
);

const ObjectMetricSource = struct("ObjectMetricSource", "A metric of one object.", {
  target: field(1, CrossVersionObjectReference, "The object.").declaredRequired(),
  metricName: field(2, string, "Name of the metric.").declaredRequired(),
  targetValue: field(3, quantity, "Value that is aimed at.").declaredRequired(),
  selector: field(4, LabelSelector, "Narrows the metric by labels.").nullable(),
  averageValue: field(5, quantity, "Value a pod that is aimed at.").nullable(),
});

const PodsMetricSource = struct("PodsMetricSource", "A metric of each pod, averaged.", {
  metricName: field(1, string, "Name of the metric.").declaredRequired(),
  targetAverageValue: field(2, quantity, "Average that is aimed at.").declaredRequired(),
  selector: field(3, LabelSelector, "Narrows the metric by labels.").nullable(),
});

const ResourceMetricSource = struct("ResourceMetricSource", "Use of a resource by the pods.", {
  name: field(1, string, "Name of the resource.").declaredRequired(),
  targetAverageUtilization: field(2, int32, "Average in percent of what was requested.").nullable(),
  targetAverageValue: field(3, quantity, "Average that is aimed at.").nullable(),
});

const ExternalMetricSource = struct("ExternalMetricSource", "A metric from outside of the cluster.", {
  metricName: field(1, string, "Name of the metric.").declaredRequired(),
  metricSelector: field(2, LabelSelector, "Narrows the metric by labels.").nullable(),
  targetValue: field(3, quantity, "Value that is aimed at.").nullable(),
  targetAverageValue: field(4, quantity, "Value a pod that is aimed at.").nullable(),
});

const ContainerResourceMetricSource = struct(
  "ContainerResourceMetricSource",
  "Use of a resource by one container of the pods.",
  {
    name: field(1, string, "Name of the resource.").declaredRequired(),
    targetAverageUtilization: field(2, int32, "Average in percent of what was requested.").nullable(),
    targetAverageValue: field(3, quantity, "Average that is aimed at.").nullable(),
    container: field(5, string, "Name of the container.").declaredRequired(),
  },
);

export const MetricSpec = struct("MetricSpec", "A metric by which is scaled.", {
  type: field(1, string, "Which of the other fields holds the metric.")
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

const ObjectMetricStatus = struct("ObjectMetricStatus", "A metric of one object, as seen.", {
  target: field(1, CrossVersionObjectReference, "The object.").declaredRequired(),
  metricName: field(2, string, "Name of the metric.").declaredRequired(),
  currentValue: field(3, quantity, "Value that was seen.").declaredRequired(),
  selector: field(4, LabelSelector, "Narrows the metric by labels.").nullable(),
  averageValue: field(5, quantity, "Value a pod that was seen.").nullable(),
});

const PodsMetricStatus = struct("PodsMetricStatus", "A metric of each pod, as seen.", {
  metricName: field(1, string, "Name of the metric.").declaredRequired(),
  currentAverageValue: field(2, quantity, "Average that was seen.").declaredRequired(),
  selector: field(3, LabelSelector, "Narrows the metric by labels.").nullable(),
});

const ResourceMetricStatus = struct("ResourceMetricStatus", "Use of a resource, as seen.", {
  name: field(1, string, "Name of the resource.").declaredRequired(),
  currentAverageUtilization: field(2, int32, "Average in percent of what was requested.").nullable(),
  currentAverageValue: field(3, quantity, "Average that was seen.").declaredRequired(),
});

const ExternalMetricStatus = struct("ExternalMetricStatus", "A metric from outside, as seen.", {
  metricName: field(1, string, "Name of the metric.").declaredRequired(),
  metricSelector: field(2, LabelSelector, "Narrows the metric by labels.").nullable(),
  currentValue: field(3, quantity, "Value that was seen.").declaredRequired(),
  currentAverageValue: field(4, quantity, "Value a pod that was seen.").nullable(),
});

const ContainerResourceMetricStatus = struct(
  "ContainerResourceMetricStatus",
  "Use of a resource by one container, as seen.",
  {
    name: field(1, string, "Name of the resource.").declaredRequired(),
    currentAverageUtilization: field(2, int32, "Average in percent of what was requested.").nullable(),
    currentAverageValue: field(3, quantity, "Average that was seen.").declaredRequired(),
    container: field(4, string, "Name of the container.").declaredRequired(),
  },
);

export const MetricStatus = struct("MetricStatus", "A metric as it was seen last.", {
  type: field(1, string, "Which of the other fields holds the metric.")
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
