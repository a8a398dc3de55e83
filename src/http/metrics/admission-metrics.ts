import type { AdmissionObserver } from "../../admission/admission-chain.ts";
import type { MetricDefinition } from "./metric-definition.ts";
import type { MetricSet, Sample } from "./metric-set.ts";

const step = "apiserver_admission_step_admission_duration_seconds";
const controller = "apiserver_admission_controller_admission_duration_seconds";
const buckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5];

/** Metrics of admission, with the names of the reference. */
export const admissionMetrics: readonly MetricDefinition[] = [
  {
    name: step,
    help: "Seconds that all plugins of a phase took, by operation and by whether the request was rejected.",
    type: "histogram",
    stability: "STABLE",
    labels: ["operation", "rejected", "type"],
    buckets,
  },
  {
    name: controller,
    help: "Seconds that a plugin took, by phase, operation and by whether it rejected the request.",
    type: "histogram",
    stability: "STABLE",
    labels: ["name", "operation", "rejected", "type"],
    buckets,
  },
];

/** Returns an observer that records the durations of admission. */
export function admissionObserver(metrics: MetricSet): AdmissionObserver {
  /** By plugin (empty: the whole phase), then by the other labels. */
  const byPlugin = new Map<string, Map<string, Sample>>();
  return (plugin, phase, operation, rejected, seconds) => {
    const name = plugin?.name ?? "";
    let samples = byPlugin.get(name);
    if (samples === undefined) byPlugin.set(name, (samples = new Map()));
    const key = `${operation} ${phase} ${rejected}`;
    let sample = samples.get(key);
    if (sample === undefined) {
      const labels = [operation, String(rejected), phase];
      sample =
        plugin === undefined ? metrics.sample(step, ...labels) : metrics.sample(controller, name, ...labels);
      samples.set(key, sample);
    }
    sample.observe(seconds);
  };
}
