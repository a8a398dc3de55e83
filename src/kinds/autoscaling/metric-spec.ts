import { struct } from "./v2.ts";
import { type Static, field, int32, quantity, string, type StructType } from "../../schema/types.ts";
import { pathSegment } from "../checks/names.ts";
import { positive } from "../checks/numbers.ts";
import { positiveQuantity } from "../checks/quantities.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { CrossVersionObjectReference } from "./object-reference.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { quantityFrom } from "../quantities.ts";

/** Names of standard resources; others are accepted too. */
export const resourceNames = [
  "configmaps",
  "cpu",
  "ephemeral-storage",
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "memory",
  "persistentvolumeclaims",
  "pods",
  "replicationcontrollers",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
  "requests.storage",
  "resourcequotas",
  "secrets",
  "services",
  "services.loadbalancers",
  "services.nodeports",
  "storage",
] as const;

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

/**
 * Returns the fields of a metric besides its type, one for each type. Spec and status have the same fields, with their
 * own structs, both in v2 and in the annotations of v1.
 */
export function metricMembers<
  O extends StructType,
  P extends StructType,
  R extends StructType,
  E extends StructType,
  C extends StructType,
>(structs: {
  readonly object: O;
  readonly pods: P;
  readonly resource: R;
  readonly external: E;
  readonly containerResource: C;
}) {
  return {
    object: field(2, structs.object, "A metric of one object.").nullable(),
    pods: field(3, structs.pods, "Average of a metric over the pods.").nullable(),
    resource: field(4, structs.resource, "Resource usage of the pods.").nullable(),
    external: field(5, structs.external, "A metric from outside the cluster.").nullable(),
    containerResource: field(
      7,
      structs.containerResource,
      "Resource usage of one container of the pods.",
    ).nullable(),
  };
}
