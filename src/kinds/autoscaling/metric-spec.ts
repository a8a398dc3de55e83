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
  "What is aimed at for a metric.",
  {
    type: field(1, string, "Whether it is a value, an average value or a use in percent.")
      .declaredRequired()
      .knownValues("AverageValue", "Utilization", "Value"),
    value: field(2, quantity, "Value that is aimed at.").nullable().check(positiveQuantity),
    averageValue: field(3, quantity, "Value a pod that is aimed at.").nullable().check(positiveQuantity),
    averageUtilization: field(4, int32, "Average in percent of what the pods requested; for resources only.")
      .nullable()
      .check(positive),
  },
  { check: checkTargetType },
);

export const MetricIdentifier = struct("MetricIdentifier", "Names a metric.", {
  name: field(1, string, "Name of the metric.").required().check(pathSegment),
  selector: field(2, LabelSelector, "Narrows the metric by labels.").nullable(),
});

const ObjectMetricSource = struct(
  "ObjectMetricSource",
  "A metric of one object.",
  {
    describedObject: field(1, CrossVersionObjectReference, "The object.").required(),
    target: field(2, MetricTarget, "What is aimed at.").required(),
    metric: field(3, MetricIdentifier, "The metric.").required(),
  },
  { check: ({ target }, report) => checkObjectTarget(target, report.at("target")) },
);

const PodsMetricSource = struct(
  "PodsMetricSource",
  "A metric of each pod, averaged.",
  {
    metric: field(1, MetricIdentifier, "The metric.").required(),
    target: field(2, MetricTarget, "What is aimed at.").required(),
  },
  { check: ({ target }, report) => checkPodsTarget(target, report.at("target")) },
);

const ResourceMetricSource = struct(
  "ResourceMetricSource",
  "Use of a resource by the pods.",
  {
    name: field(1, string, "Name of the resource.")
      .required()
      .knownValues(...resourceNames),
    target: field(2, MetricTarget, "What is aimed at.").required(),
  },
  { check: ({ target }, report) => checkResourceTarget(target, report.at("target")) },
);

const ExternalMetricSource = struct(
  "ExternalMetricSource",
  "A metric from outside of the cluster.",
  {
    metric: field(1, MetricIdentifier, "The metric.").required(),
    target: field(2, MetricTarget, "What is aimed at.").required(),
  },
  { check: ({ target }, report) => checkExternalTarget(target, report.at("target")) },
);

const ContainerResourceMetricSource = struct(
  "ContainerResourceMetricSource",
  "Use of a resource by one container of the pods.",
  {
    name: field(1, string, "Name of the resource.")
      .required()
      .knownValues(...resourceNames),
    target: field(2, MetricTarget, "What is aimed at.").required(),
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
  "A metric by which is scaled; the field that its type names holds it.",
  {
    type: field(1, string, "Which of the other fields holds the metric.")
      .declaredRequired()
      .knownValues("ContainerResource", "External", "Object", "Pods", "Resource"),
    ...members,
    containerResource: members.containerResource.gated("HPAContainerMetrics"),
  },
  { check: checkMetric },
);
export type MetricSpec = Static<typeof MetricSpec>;
