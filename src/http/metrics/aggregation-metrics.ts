import type { ApiServices } from "../../aggregation/api-services.ts";
import type { MetricDefinition } from "./metric-definition.ts";
import type { MetricSet } from "./metric-set.ts";

const unavailable = "aggregator_unavailable_apiservice";
const total = "aggregator_unavailable_apiservice_total";

/** Metrics of APIServices, with the names of the reference. */
export const aggregationMetrics: readonly MetricDefinition[] = [
  {
    name: unavailable,
    help: "Whether an API service is unavailable (1) or available (0).",
    type: "gauge",
    stability: "ALPHA",
    labels: ["name"],
    combined: "max",
  },
  {
    name: total,
    help: "Number of times that an API service became unavailable, by name and reason.",
    type: "counter",
    stability: "ALPHA",
    labels: ["name", "reason"],
  },
];

/** Registers the collection of the availability of APIServices at each scrape. */
export function showApiServices(metrics: MetricSet, services: ApiServices): void {
  metrics.collectWith(() => {
    metrics.reset(unavailable);
    for (const { name, remote } of services.list()) {
      metrics.sample(unavailable, name).set(remote === undefined || remote.available ? 0 : 1);
    }
  });
}

/** Counts an API service that became unavailable. */
export function lostApiService(metrics: MetricSet, name: string, reason: string): void {
  metrics.sample(total, name, reason).inc();
}
