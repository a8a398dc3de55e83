import type { FlowControl } from "../../flow/flow-control.ts";
import type { WaitMeters } from "../../flow/schema-flows.ts";
import type { MetricDefinition } from "./metric-definition.ts";
import type { MetricSet } from "./metric-set.ts";

const prefix = "apiserver_flowcontrol_";
const flow = ["priority_level", "flow_schema"] as const;
const waitBuckets = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];

const of = (
  type: "counter" | "gauge",
  name: string,
  help: string,
  labels: readonly string[],
): MetricDefinition => ({ name: prefix + name, help, type, stability: "ALPHA", labels });

/** The metrics of priority and fairness. */
export const flowMetrics: readonly MetricDefinition[] = [
  of("counter", "rejected_requests_total", "Requests that were refused for want of room, by why.", [
    ...flow,
    "reason",
  ]),
  of("counter", "dispatched_requests_total", "Requests that were let through.", flow),
  of("gauge", "current_inqueue_requests", "Requests that wait for room.", flow),
  of("gauge", "current_executing_requests", "Requests that were let through and go on.", flow),
  of("gauge", "request_concurrency_in_use", "Seats of the requests that go on.", flow),
  of("gauge", "nominal_limit_seats", "Seats of a level by its shares.", ["priority_level"]),
  of("gauge", "lower_limit_seats", "The fewest seats that lending leaves a level.", ["priority_level"]),
  of("gauge", "upper_limit_seats", "The most seats that borrowing gives a level.", ["priority_level"]),
  of("gauge", "current_limit_seats", "Seats of a level at present.", ["priority_level"]),
  {
    name: `${prefix}request_wait_duration_seconds`,
    help: "Time that requests waited for room, by whether they got it.",
    type: "histogram",
    stability: "ALPHA",
    labels: [...flow, "execute"],
    buckets: waitBuckets,
  },
];

/** Where the waits of a schema's requests at a level are counted. */
export function waitMeters(metrics: MetricSet, level: string, schema: string): WaitMeters {
  const name = `${prefix}request_wait_duration_seconds`;
  return {
    executed: metrics.sample(name, level, schema, "true"),
    refused: metrics.sample(name, level, schema, "false"),
  };
}

/** Fills the metrics in just before they are shown. */
export function collectFlows(metrics: MetricSet, control: FlowControl): void {
  control.adjust();
  const sample = (name: string, ...labels: readonly string[]) => metrics.sample(prefix + name, ...labels);
  for (const name of perLevel) metrics.reset(prefix + name);
  for (const use of control.counters) {
    const labels = [use.level.name, use.schemaName] as const;
    sample("dispatched_requests_total", ...labels).set(use.dispatched);
    sample("current_inqueue_requests", ...labels).set(use.waiting);
    sample("current_executing_requests", ...labels).set(use.executing);
    sample("request_concurrency_in_use", ...labels).set(use.seats);
    for (const [reason, count] of use.refused) {
      sample("rejected_requests_total", ...labels, reason).set(count);
    }
  }
  for (const { level, range } of control.ranges) {
    sample("nominal_limit_seats", level.name).set(range.nominal);
    sample("lower_limit_seats", level.name).set(range.least);
    sample("upper_limit_seats", level.name).set(range.most);
    sample("current_limit_seats", level.name).set(level.seats);
  }
}

/** A level that is gone is no longer shown. */
const perLevel = ["nominal_limit_seats", "lower_limit_seats", "upper_limit_seats", "current_limit_seats"];
