import { struct } from "./v2.ts";
import { type Static, field, int32, quantity, string } from "../../schema/types.ts";
import { MetricIdentifier } from "./metric-spec.ts";
import { metricMembers } from "./metric-members.ts";
import { CrossVersionObjectReference } from "./object-reference.ts";
import { resourceNames } from "./resource-names.ts";

const MetricValueStatus = struct("MetricValueStatus", "A metric's value as it was seen last.", {
  value: field(1, quantity, "Value that was seen.").nullable(),
  averageValue: field(2, quantity, "Value a pod that was seen.").nullable(),
  averageUtilization: field(3, int32, "Average in percent of what the pods requested.").nullable(),
});

const ObjectMetricStatus = struct("ObjectMetricStatus", "A metric of one object, as seen.", {
  metric: field(1, MetricIdentifier, "The metric.").declaredRequired(),
  current: field(2, MetricValueStatus, "Value that was seen.").declaredRequired(),
  describedObject: field(3, CrossVersionObjectReference, "The object.").declaredRequired(),
});

const PodsMetricStatus = struct("PodsMetricStatus", "A metric of each pod, as seen.", {
  metric: field(1, MetricIdentifier, "The metric.").declaredRequired(),
  current: field(2, MetricValueStatus, "Value that was seen.").declaredRequired(),
});

const ResourceMetricStatus = struct("ResourceMetricStatus", "Use of a resource, as seen.", {
  name: field(1, string, "Name of the resource.")
    .declaredRequired()
    .knownValues(...resourceNames),
  current: field(2, MetricValueStatus, "Value that was seen.").declaredRequired(),
});

const ExternalMetricStatus = struct("ExternalMetricStatus", "A metric from outside, as seen.", {
  metric: field(1, MetricIdentifier, "The metric.").declaredRequired(),
  current: field(2, MetricValueStatus, "Value that was seen.").declaredRequired(),
});

const ContainerResourceMetricStatus = struct(
  "ContainerResourceMetricStatus",
  "Use of a resource by one container, as seen.",
  {
    name: field(1, string, "Name of the resource.")
      .declaredRequired()
      .knownValues(...resourceNames),
    current: field(2, MetricValueStatus, "Value that was seen.").declaredRequired(),
    container: field(3, string, "Name of the container.").declaredRequired(),
  },
);

export const MetricStatus = struct("MetricStatus", "A metric as it was seen last.", {
  type: field(1, string, "Which of the other fields holds the metric.")
    .declaredRequired()
    .knownValues("ContainerResource", "External", "Object", "Pods", "Resource"),
  ...metricMembers({
    object: ObjectMetricStatus,
    pods: PodsMetricStatus,
    resource: ResourceMetricStatus,
    external: ExternalMetricStatus,
    containerResource: ContainerResourceMetricStatus,
  }),
});
export type MetricStatus = Static<typeof MetricStatus>;
