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
  of("counter", "rejected_requests_total", "Requests rejected for lack of seats, by reason.", [
    ...flow,
    "reason",
  ]),
  of("counter", "dispatched_requests_total", "Requests that were executed.", flow),
  of("gauge", "current_inqueue_requests", "Requests waiting in queues.", flow),
  of("gauge", "current_executing_requests", "Requests being executed.", flow),
  of("gauge", "request_concurrency_in_use", "Seats of the requests being executed.", flow),
  of("gauge", "nominal_limit_seats", "Nominal seats of a level, by its shares.", ["priority_level"]),
  of("gauge", "lower_limit_seats", "Minimum seats of a level after lending.", ["priority_level"]),
  of("gauge", "upper_limit_seats", "Maximum seats of a level with borrowed ones.", ["priority_level"]),
  of("gauge", "current_limit_seats", "Current seats of a level.", ["priority_level"]),
  {
    name: `${prefix}request_wait_duration_seconds`,
    help: "Waiting time of requests in queues, by whether they were executed.",
    type: "histogram",
    stability: "ALPHA",
    labels: [...flow, "execute"],
    buckets: waitBuckets,
  },
];

/** Returns the meters of the waiting times of a flow schema at a priority level. */
export function waitMeters(metrics: MetricSet, level: string, schema: string): WaitMeters {
  const name = `${prefix}request_wait_duration_seconds`;
  return {
    executed: metrics.sample(name, level, schema, "true"),
    refused: metrics.sample(name, level, schema, "false"),
  };
}

/** Updates the metrics at each scrape. */
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

/** Metrics per level; a deleted level is removed. */
const perLevel = ["nominal_limit_seats", "lower_limit_seats", "upper_limit_seats", "current_limit_seats"];
