import type { ReloadCounters } from "../../base/reload-counters.ts";
import type { MetricDefinition } from "./metric-definition.ts";
import type { MetricSet } from "./metric-set.ts";

type Subject = "authentication" | "authorization";

const total = (subject: Subject) => `apiserver_${subject}_config_controller_automatic_reloads_total`;
const last = (subject: Subject) =>
  `apiserver_${subject}_config_controller_automatic_reload_last_timestamp_seconds`;

/** Metrics of reloaded configuration files, with the names of the reference. */
export const configurationMetrics: readonly MetricDefinition[] = (
  ["authentication", "authorization"] as const
).flatMap((subject): MetricDefinition[] => [
  {
    name: total(subject),
    help: `Reloads of the file of --${subject}-config after it changed, by whether it could be used.`,
    type: "counter",
    stability: "ALPHA",
    labels: ["status", "apiserver_id_hash"],
  },
  {
    name: last(subject),
    help: `Time of the last reload of the file of --${subject}-config, in seconds since 1970, by whether it could be used.`,
    type: "gauge",
    stability: "ALPHA",
    labels: ["status", "apiserver_id_hash"],
    combined: "max",
  },
]);

/** Connects the counters of a configuration file with the metrics. The hash of the server's identity is always empty. */
export function showReloads(metrics: MetricSet, subject: Subject, counters: ReloadCounters): void {
  metrics.collectWith(() => {
    for (const status of ["success", "failure"] as const) {
      const { count, lastSeconds } = counters[status];
      if (count === 0) continue;
      metrics.sample(total(subject), status, "").set(count);
      metrics.sample(last(subject), status, "").set(lastSeconds);
    }
  });
}
