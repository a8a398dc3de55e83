import type { MatchCounters } from "../../authorization/configuration/match-counters.ts";
import type { ReloadCounters } from "../../base/reload-counters.ts";
import type { MetricDefinition } from "./metric-definition.ts";
import type { MetricSet } from "./metric-set.ts";

/** The flags of the configuration files that are read again. */
const reloadedFlags = {
  authentication: "--authentication-config",
  authorization: "--authorization-config",
  encryption: "--encryption-provider-config",
} as const;
type Subject = keyof typeof reloadedFlags;

const total = (subject: Subject) => `apiserver_${subject}_config_controller_automatic_reloads_total`;
const last = (subject: Subject) =>
  `apiserver_${subject}_config_controller_automatic_reload_last_timestamp_seconds`;

const exclusions = "apiserver_authorization_match_condition_exclusions_total";
const errors = "apiserver_authorization_match_condition_evaluation_errors_total";

const reloadMetrics = (Object.keys(reloadedFlags) as Subject[]).flatMap((subject): MetricDefinition[] => [
  {
    name: total(subject),
    help: `Reloads of the file of ${reloadedFlags[subject]} after it changed, by whether it could be used.`,
    type: "counter",
    stability: "ALPHA",
    labels: ["status", "apiserver_id_hash"],
  },
  {
    name: last(subject),
    help: `Time of the last reload of the file of ${reloadedFlags[subject]}, in seconds since 1970, by whether it could be used.`,
    type: "gauge",
    stability: "ALPHA",
    labels: ["status", "apiserver_id_hash"],
    combined: "max",
  },
]);

/** Metrics of configuration files, with the names of the reference. */
export const configurationMetrics: readonly MetricDefinition[] = [
  ...reloadMetrics,
  {
    name: exclusions,
    help: "Requests about which an authorization webhook was not asked because a condition was false.",
    type: "counter",
    stability: "ALPHA",
    labels: ["type", "name"],
  },
  {
    name: errors,
    help: "Requests about which an authorization webhook was not asked because a condition could not be evaluated.",
    type: "counter",
    stability: "ALPHA",
    labels: ["type", "name"],
  },
];

/** Connects the counters of the conditions of authorization webhooks with the metrics. */
export function showMatches(metrics: MetricSet, counters: MatchCounters): void {
  metrics.collectWith(() => {
    for (const [name, counts] of counters.all()) {
      metrics.sample(exclusions, "Webhook", name).set(counts.exclusions);
      metrics.sample(errors, "Webhook", name).set(counts.errors);
    }
  });
}

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
