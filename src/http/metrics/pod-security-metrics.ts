import type { LabelledCounts, PodSecurityCounters } from "../../admission/plugins/pod-security/counters.ts";
import type { MetricDefinition } from "./metric-definition.ts";
import type { MetricSet } from "./metric-set.ts";

const request = ["request_operation", "resource", "subresource"] as const;
const evaluations = "pod_security_evaluations_total";
const exemptions = "pod_security_exemptions_total";
const errors = "pod_security_errors_total";

/** Metrics of the plugin PodSecurity, with the names of the reference. */
export const podSecurityMetrics: readonly MetricDefinition[] = [
  {
    name: evaluations,
    help: "Pods and templates of pods that were evaluated against a Pod security standard, by its level and version.",
    type: "counter",
    stability: "ALPHA",
    labels: ["decision", "policy_level", "policy_version", "mode", ...request],
  },
  {
    name: exemptions,
    help: "Requests that were not evaluated because their user, namespace or runtime class is exempt.",
    type: "counter",
    stability: "ALPHA",
    labels: request,
  },
  {
    name: errors,
    help: "Requests whose namespace has invalid labels or, where fatal, could not be looked up.",
    type: "counter",
    stability: "ALPHA",
    labels: ["fatal", ...request],
  },
];

/** Connects the counters of the plugin with the metrics. */
export function showPodSecurity(metrics: MetricSet, counters: PodSecurityCounters): void {
  const show = (name: string, counts: LabelledCounts): void => {
    for (const { labels, value } of counts.all()) metrics.sample(name, ...labels).set(value);
  };
  metrics.collectWith(() => {
    show(evaluations, counters.evaluations);
    show(exemptions, counters.exemptions);
    show(errors, counters.errors);
  });
}
