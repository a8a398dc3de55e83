import type { Gauge } from "prom-client";
import Registry from "prom-client/lib/registry.js";
import { isLater, releaseAfter } from "../../base/releases.ts";
import type { MetricDefinition } from "./metric-definition.ts";
import { Metric, type Sample } from "./metric.ts";

export type { Sample } from "./metric.ts";

/** Settings of {@link MetricSet}. */
export interface MetricSettings {
  /** The release of this server. */
  readonly release: string;
  /** The release whose hidden metrics are still shown; empty to hide them. */
  readonly showHiddenFor: string;
  readonly warn: (message: string) => void;
}

/** The values of all metrics of one process, in the form of the library. */
export type MetricValues = readonly object[];

/** The other processes of a server that has several. */
export interface OtherProcesses {
  /** Sets the function that returns this process's metrics when another one asks. */
  share(own: () => Promise<MetricValues>): void;
  /** Returns the metrics of the other processes. */
  metrics(): Promise<readonly MetricValues[]>;
}

const ignored: Sample = {
  inc: () => undefined,
  dec: () => undefined,
  set: () => undefined,
  observe: () => undefined,
};

/** The metrics of one server. A sample stays valid until its metric is reset. */
export class MetricSet {
  private readonly registry = new Registry();
  private readonly metrics = new Map<string, Metric>();
  private readonly collectors: (() => Promise<void> | void)[] = [];

  constructor(definitions: readonly MetricDefinition[], settings: MetricSettings) {
    for (const definition of definitions) {
      if (isHidden(definition, settings)) continue;
      const { name, deprecated } = definition;
      if (deprecated !== undefined && !isLater(deprecated.since, settings.release)) {
        settings.warn(`the metric ${name} is deprecated since ${deprecated.since}`);
      }
      const metric = new Metric(definition, helpOf(definition, settings));
      this.metrics.set(name, metric);
      // The library uses only the name and the values of a metric.
      this.registry.registerMetric(metric as unknown as Gauge);
    }
  }

  /** Returns the sample of a metric with these labels, in the order of the definition. Hidden metrics ignore changes. */
  sample(name: string, ...labels: readonly string[]): Sample {
    return this.metrics.get(name)?.sample(labels) ?? ignored;
  }

  /** Removes all samples of a metric. */
  reset(name: string): void {
    this.metrics.get(name)?.reset();
  }

  /** Registers a function that updates metrics before they are shown. */
  collectWith(collector: () => Promise<void> | void): void {
    this.collectors.push(collector);
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** Returns the current values of all metrics. */
  async values(): Promise<MetricValues> {
    for (const collector of this.collectors) await collector();
    return this.registry.getMetricsAsJSON();
  }

  /** Returns all metrics in the text format. @param others combined with those of this process. */
  async text(others?: OtherProcesses): Promise<string> {
    const values = await this.values();
    if (others === undefined) return this.registry.metrics();
    const { default: cluster } = await import("prom-client/lib/cluster.js");
    const all = [values, ...(await others.metrics())];
    return cluster.aggregate(all as object[][]).metrics();
  }
}

function helpOf({ help, stability, deprecated }: MetricDefinition, { release }: MetricSettings): string {
  const old =
    deprecated === undefined || isLater(deprecated.since, release)
      ? ""
      : `(Deprecated from ${deprecated.since}) `;
  return `${old}[${stability}] ${help}`;
}

/** Returns true if a metric is hidden and not enabled by the operator. */
function isHidden(definition: MetricDefinition, { release, showHiddenFor }: MetricSettings): boolean {
  const hidden = hiddenFrom(definition);
  if (hidden === undefined || isLater(hidden, release)) return false;
  const isDeleted = hidden !== release;
  return isDeleted || showHiddenFor === "" || !isLater(hidden, showHiddenFor);
}

/**
 * Returns the release that hides a metric; undefined for one that isn't deprecated. The following release removes it. A
 * metric is shown for three releases after its deprecation, a stable one for at least four in total (spec: conventions
 * 9.2, rules 9a and 9b).
 */
export function hiddenFrom({ deprecated, stability }: MetricDefinition): string | undefined {
  if (deprecated === undefined) return undefined;
  const usual = releaseAfter(deprecated.since, 3);
  const least = releaseAfter(deprecated.introduced, 4);
  return stability === "STABLE" && isLater(least, usual) ? least : usual;
}
