import type { ApiServices } from "../../aggregation/api-services.ts";
import type { MetricDefinition } from "./metric-definition.ts";
import type { MetricSet } from "./metric-set.ts";

const unavailable = "aggregator_unavailable_apiservice";
const total = "aggregator_unavailable_apiservice_total";

/** The metrics of APIServices, under the names that the field knows. */
export const aggregationMetrics: readonly MetricDefinition[] = [
  {
    name: unavailable,
    help: "Whether each API service can't be reached now: 1, or 0.",
    type: "gauge",
    stability: "ALPHA",
    labels: ["name"],
  },
  {
    name: total,
    help: "How often API services could no longer be reached, by name and reason.",
    type: "counter",
    stability: "ALPHA",
    labels: ["name", "reason"],
  },
];

/** Shows whether the API services of now can be reached, whenever somebody asks. */
export function showApiServices(metrics: MetricSet, services: ApiServices): void {
  metrics.collectWith(() => {
    metrics.reset(unavailable);
    for (const { name, remote } of services.list()) {
      metrics.sample(unavailable, name).set(remote === undefined || remote.available ? 0 : 1);
    }
  });
}

/** Counts an API service that can no longer be reached. */
export function lostApiService(metrics: MetricSet, name: string, reason: string): void {
  metrics.sample(total, name, reason).inc();
}
