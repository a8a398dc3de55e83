import { byRelease, since } from "../../base/release-rows.ts";
import type { Release } from "../../base/releases.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { processStartTime } from "./definitions.ts";
import type { MetricDefinition } from "./metric-definition.ts";
import { metricTopics, MetricSet } from "./metric-set.ts";

/** What the processes of a server share about the health indicators. */
export const indicatorTopics = metricTopics("health indicators");

/** The results of health checks as metrics, from which service levels are computed. */
export class HealthIndicators {
  readonly metrics: MetricSet;
  private readonly prefix: string;

  constructor({ name }: Vocabulary, release: Release) {
    this.prefix = name;
    const settings = { release, showHiddenFor: "", warn: () => undefined };
    this.metrics = new MetricSet(definitionsFor(name, release), settings);
    this.metrics.sample(processStartTime.name).set(performance.timeOrigin / 1000);
  }

  /** Records the result of a check that an endpoint ran. @param endpoint such as `livez`. */
  observe(check: string, endpoint: string, passed: boolean): void {
    const status = passed ? "success" : "error";
    this.metrics.sample(`${this.prefix}_healthcheck`, check, endpoint).set(passed ? 1 : 0);
    this.metrics.sample(`${this.prefix}_healthchecks_total`, check, status, endpoint).inc();
  }
}

const stabilityOf = byRelease<MetricDefinition["stability"]>("ALPHA", since("1.27", "STABLE"));

function definitionsFor(prefix: string, release: Release): readonly MetricDefinition[] {
  const stability = stabilityOf({ release });
  return [
    {
      name: `${prefix}_healthcheck`,
      help: "Whether a health check passed when it last ran (1) or failed (0), by check and endpoint.",
      type: "gauge",
      stability,
      labels: ["name", "type"],
      combined: "min",
    },
    {
      name: `${prefix}_healthchecks_total`,
      help: "Health checks that ran, by check, result and endpoint.",
      type: "counter",
      stability,
      labels: ["name", "status", "type"],
    },
    processStartTime,
  ];
}
