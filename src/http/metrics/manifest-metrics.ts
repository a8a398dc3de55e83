import type { ManifestCounters } from "../../base/reload-counters.ts";
import type { MetricDefinition } from "./metric-definition.ts";
import type { MetricSet } from "./metric-set.ts";

const prefix = "apiserver_manifest_admission_config_controller";
const total = `${prefix}_automatic_reloads_total`;
const last = `${prefix}_automatic_reload_last_timestamp_seconds`;
const info = `${prefix}_last_config_info`;

/** Metrics of the files in `staticManifestsDir`, with the names of the reference. */
export const manifestMetrics: readonly MetricDefinition[] = [
  {
    name: total,
    help: "Reads of the files in staticManifestsDir at the start and after changes, by whether they could be used.",
    type: "counter",
    stability: "ALPHA",
    labels: ["status", "plugin", "apiserver_id_hash"],
  },
  {
    name: last,
    help: "Time of the last read of the files in staticManifestsDir, in seconds since 1970, by whether they could be used.",
    type: "gauge",
    stability: "ALPHA",
    labels: ["status", "plugin", "apiserver_id_hash"],
    combined: "max",
  },
  {
    name: info,
    help: "The hash of the files in staticManifestsDir that are in use.",
    type: "gauge",
    stability: "ALPHA",
    labels: ["plugin", "apiserver_id_hash", "hash"],
    combined: "max",
  },
];

/** Connects the counters of plugins with the metrics. The hash of the server's identity is always empty. */
export function showManifests(metrics: MetricSet, plugins: readonly ManifestCounters[]): void {
  metrics.collectWith(() => {
    metrics.reset(info);
    for (const { plugin, reloads, hash } of plugins) {
      for (const status of ["success", "failure"] as const) {
        const { count, lastSeconds } = reloads[status];
        if (count === 0) continue;
        metrics.sample(total, status, plugin, "").set(count);
        metrics.sample(last, status, plugin, "").set(lastSeconds);
      }
      if (hash !== "") metrics.sample(info, plugin, "", hash).set(1);
    }
  });
}
