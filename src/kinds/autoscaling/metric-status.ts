import { struct } from "./v2.ts";
import { type Static, field, int32, quantity, string } from "../../schema/types.ts";
import { MetricIdentifier, metricMembers, resourceNames } from "./metric-spec.ts";
import { CrossVersionObjectReference } from "./object-reference.ts";

const MetricValueStatus = struct("MetricValueStatus", "Last observed value of a metric.", {
  value: field(1, quantity, "Current value of the metric.").nullable(),
  averageValue: field(2, quantity, "Current average value per pod.").nullable(),
  averageUtilization: field(
    3,
    int32,
    "Current average use, as a percentage of the requested amount.",
  ).nullable(),
});

const ObjectMetricStatus = struct("ObjectMetricStatus", "Current value of a metric of one object.", {
  metric: field(1, MetricIdentifier, "Name and labels of the metric.").declaredRequired(),
  current: field(2, MetricValueStatus, "Current value of the metric.").declaredRequired(),
  describedObject: field(
    3,
    CrossVersionObjectReference,
    "The object that the metric describes.",
  ).declaredRequired(),
});

const PodsMetricStatus = struct("PodsMetricStatus", "Current average of a metric over the pods.", {
  metric: field(1, MetricIdentifier, "Name and labels of the metric.").declaredRequired(),
  current: field(2, MetricValueStatus, "Current value of the metric.").declaredRequired(),
});

const ResourceMetricStatus = struct("ResourceMetricStatus", "Current usage of a resource by the pods.", {
  name: field(1, string, "Name of the resource.")
    .declaredRequired()
    .knownValues(...resourceNames),
  current: field(2, MetricValueStatus, "Current value of the metric.").declaredRequired(),
});

const ExternalMetricStatus = struct(
  "ExternalMetricStatus",
  "Current value of a metric from outside the cluster.",
  {
    metric: field(1, MetricIdentifier, "Name and labels of the metric.").declaredRequired(),
    current: field(2, MetricValueStatus, "Current value of the metric.").declaredRequired(),
  },
);

const ContainerResourceMetricStatus = struct(
  "ContainerResourceMetricStatus",
  "Current usage of a resource by one container of the pods.",
  {
    name: field(1, string, "Name of the resource.")
      .declaredRequired()
      .knownValues(...resourceNames),
    current: field(2, MetricValueStatus, "Current value of the metric.").declaredRequired(),
    container: field(3, string, "Name of the container.").declaredRequired(),
  },
);

export const MetricStatus = struct("MetricStatus", "Last observed value of a metric.", {
  type: field(1, string, "Type of the metric source; the field with this name is set.")
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
