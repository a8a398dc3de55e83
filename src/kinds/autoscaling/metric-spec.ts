import { struct } from "./v2.ts";
import { type Static, field, int32, quantity, string } from "../../schema/types.ts";
import { pathSegment } from "../checks/names.ts";
import { positive } from "../checks/numbers.ts";
import { positiveQuantity } from "../checks/quantities.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { metricMembers } from "./metric-members.ts";
import { CrossVersionObjectReference } from "./object-reference.ts";
import { resourceNames } from "./resource-names.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { quantityFrom } from "../quantities.ts";

interface Target {
  readonly type: string;
  readonly value?: string | undefined;
  readonly averageValue?: string | undefined;
  readonly averageUtilization?: number | undefined;
}

interface Metric {
  readonly type: string;
  readonly object?: unknown;
  readonly pods?: unknown;
  readonly resource?: unknown;
  readonly external?: unknown;
  readonly containerResource?: unknown;
}

/** The field of each type of metric. */
const sources: ReadonlyMap<string, Exclude<keyof Metric, "type">> = new Map([
  ["ContainerResource", "containerResource"],
  ["External", "external"],
  ["Object", "object"],
  ["Pods", "pods"],
  ["Resource", "resource"],
] as const);

/** Requires exactly the field that belongs to the type. */
function checkMetric(metric: Metric, report: FieldReport): void {
  if (metric.type === "") report.at("type").required("must specify a metric source type");
  const expected = sources.get(metric.type);
  if (expected === undefined) report.at("type").notSupported(metric.type, [...sources.keys()]);
  else if (metric[expected] === undefined) {
    report.at(expected).required("must populate information for the given metric source");
  }
  for (const name of expected === undefined ? [] : sources.values()) {
    if (name === expected || metric[name] === undefined) continue;
    report.at(name).forbidden("must populate the given metric source only");
  }
}

/** Requires one of the three target types. */
function checkTargetType({ type }: Target, report: FieldReport): void {
  if (type === "") report.at("type").required("must specify a metric target type");
  if (!["AverageValue", "Utilization", "Value"].includes(type)) {
    report.at("type").invalid(type, "must be either Utilization, Value, or AverageValue");
  }
}

/** Checks the target of an object metric. */
function checkObjectTarget(target: Target, report: FieldReport): void {
  if (target.value !== undefined || target.averageValue !== undefined) return;
  report.at("averageValue").required("must set either a target value or averageValue");
}

/** Checks the target of a pods metric. */
function checkPodsTarget({ averageValue }: Target, report: FieldReport): void {
  const quantity = averageValue === undefined ? undefined : quantityFrom(averageValue);
  if (quantity !== undefined && quantity.nanos > 0n) return;
  report.at("averageValue").required("must specify a positive target averageValue");
}

/** Checks the target of an external metric. */
function checkExternalTarget({ value, averageValue }: Target, report: FieldReport): void {
  if (value === undefined && averageValue === undefined) {
    report.at("averageValue").required("must set either a target value for metric or a per-pod target");
  }
  if (value !== undefined && averageValue !== undefined) {
    report.at("value").forbidden("may not set both a target value for metric and a per-pod target");
  }
}

/** Checks the target of a resource metric. */
function checkResourceTarget({ averageUtilization, averageValue }: Target, report: FieldReport): void {
  if (averageUtilization === undefined && averageValue === undefined) {
    report.at("averageUtilization").required("must set either a target raw value or a target utilization");
  }
  if (averageUtilization !== undefined && averageValue !== undefined) {
    report.at("averageValue").forbidden("may not set both a target raw value and a target utilization");
  }
}

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
