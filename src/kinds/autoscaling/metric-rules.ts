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
export function checkMetric(metric: Metric, report: FieldReport): void {
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
export function checkTargetType({ type }: Target, report: FieldReport): void {
  if (type === "") report.at("type").required("must specify a metric target type");
  if (!["AverageValue", "Utilization", "Value"].includes(type)) {
    report.at("type").invalid(type, "must be either Utilization, Value, or AverageValue");
  }
}

/** Checks the target of an object metric. */
export function checkObjectTarget(target: Target, report: FieldReport): void {
  if (target.value !== undefined || target.averageValue !== undefined) return;
  report.at("averageValue").required("must set either a target value or averageValue");
}

/** Checks the target of a pods metric. */
export function checkPodsTarget({ averageValue }: Target, report: FieldReport): void {
  const quantity = averageValue === undefined ? undefined : quantityFrom(averageValue);
  if (quantity !== undefined && quantity.nanos > 0n) return;
  report.at("averageValue").required("must specify a positive target averageValue");
}

/** Checks the target of an external metric. */
export function checkExternalTarget({ value, averageValue }: Target, report: FieldReport): void {
  if (value === undefined && averageValue === undefined) {
    report.at("averageValue").required("must set either a target value for metric or a per-pod target");
  }
  if (value !== undefined && averageValue !== undefined) {
    report.at("value").forbidden("may not set both a target value for metric and a per-pod target");
  }
}

/** Checks the target of a resource metric. */
export function checkResourceTarget({ averageUtilization, averageValue }: Target, report: FieldReport): void {
  if (averageUtilization === undefined && averageValue === undefined) {
    report.at("averageUtilization").required("must set either a target raw value or a target utilization");
  }
  if (averageUtilization !== undefined && averageValue !== undefined) {
    report.at("averageValue").forbidden("may not set both a target raw value and a target utilization");
  }
}
