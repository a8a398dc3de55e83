import { struct } from "./v2.ts";
import { type Static, field, int32, quantity, string } from "../../schema/types.ts";
import { pathSegment } from "../checks/names.ts";
import { positive } from "../checks/numbers.ts";
import { positiveQuantity } from "../checks/quantities.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { metricMembers } from "./metric-members.ts";
import {
  checkExternalTarget,
  checkMetric,
  checkObjectTarget,
  checkPodsTarget,
  checkResourceTarget,
  checkTargetType,
} from "./metric-rules.ts";
import { CrossVersionObjectReference } from "./object-reference.ts";
import { resourceNames } from "./resource-names.ts";

const MetricTarget = struct(
  "MetricTarget",
  "Target value of a metric.",
  {
    type: field(1, string, "Form of the target: Value, AverageValue or Utilization.")
      .declaredRequired()
      .knownValues("AverageValue", "Utilization", "Value"),
    value: field(2, quantity, "Target value of the metric.").nullable().check(positiveQuantity),
    averageValue: field(3, quantity, "Target average value per pod.").nullable().check(positiveQuantity),
    averageUtilization: field(
      4,
      int32,
      "Target average use, as a percentage of the requested amount; only for resource metrics.",
    )
      .nullable()
      .check(positive),
  },
  { check: checkTargetType },
);

export const MetricIdentifier = struct("MetricIdentifier", "Identifies a metric by name and labels.", {
  name: field(1, string, "Name of the metric.").required().check(pathSegment),
  selector: field(2, LabelSelector, "Label selector that narrows the metric.").nullable(),
});

const ObjectMetricSource = struct(
  "ObjectMetricSource",
  "A metric of one object.",
  {
    describedObject: field(
      1,
      CrossVersionObjectReference,
      "The object that the metric describes.",
    ).required(),
    target: field(2, MetricTarget, "Target value of the metric.").required(),
    metric: field(3, MetricIdentifier, "Name and labels of the metric.").required(),
  },
  { check: ({ target }, report) => checkObjectTarget(target, report.at("target")) },
);

const PodsMetricSource = struct(
  "PodsMetricSource",
  "Average of a metric over the pods.",
  {
    metric: field(1, MetricIdentifier, "Name and labels of the metric.").required(),
    target: field(2, MetricTarget, "Target value of the metric.").required(),
  },
  { check: ({ target }, report) => checkPodsTarget(target, report.at("target")) },
);

const ResourceMetricSource = struct(
  "ResourceMetricSource",
  "Resource usage of the pods.",
  {
    name: field(1, string, "Name of the resource.")
      .required()
      .knownValues(...resourceNames),
    target: field(2, MetricTarget, "Target value of the metric.").required(),
  },
  { check: ({ target }, report) => checkResourceTarget(target, report.at("target")) },
);

const ExternalMetricSource = struct(
  "ExternalMetricSource",
  "A metric from outside the cluster.",
  {
    metric: field(1, MetricIdentifier, "Name and labels of the metric.").required(),
    target: field(2, MetricTarget, "Target value of the metric.").required(),
  },
  { check: ({ target }, report) => checkExternalTarget(target, report.at("target")) },
);

const ContainerResourceMetricSource = struct(
  "ContainerResourceMetricSource",
  "Usage of a resource by one container of the pods.",
  {
    name: field(1, string, "Name of the resource.")
      .required()
      .knownValues(...resourceNames),
    target: field(2, MetricTarget, "Target value of the metric.").required(),
    container: field(3, string, "Name of the container.").required(),
  },
  { check: ({ target }, report) => checkResourceTarget(target, report.at("target")) },
);

const members = metricMembers({
  object: ObjectMetricSource,
  pods: PodsMetricSource,
  resource: ResourceMetricSource,
  external: ExternalMetricSource,
  containerResource: ContainerResourceMetricSource,
});

export const MetricSpec = struct(
  "MetricSpec",
  "A metric and its target value, in the field that `type` names.",
  {
    type: field(1, string, "Type of the metric source; the field with this name is set.")
      .declaredRequired()
      .knownValues("ContainerResource", "External", "Object", "Pods", "Resource"),
    ...members,
    containerResource: members.containerResource.gated("HPAContainerMetrics"),
  },
  { check: checkMetric },
);
export type MetricSpec = Static<typeof MetricSpec>;
