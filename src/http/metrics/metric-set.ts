import type { Gauge } from "prom-client";
import Registry from "prom-client/lib/registry.js";
import { isLater, releaseAfter } from "../../base/releases.ts";
import type { MetricDefinition } from "./metric-definition.ts";
import { Metric, type Sample } from "./metric.ts";

export type { Sample } from "./metric.ts";

/** Which metrics are shown, and where the use of deprecated ones is logged. */
export interface MetricSettings {
  /** The release of this server. */
  readonly release: string;
  /** Deprecated metrics that this release hides are shown as this one did; empty: they aren't. */
  readonly showHiddenFor: string;
  readonly warn: (message: string) => void;
}

const ignored: Sample = {
  inc: () => undefined,
  dec: () => undefined,
  set: () => undefined,
  observe: () => undefined,
};

/** The metrics of one server. A sample that is asked for is good until its metric is reset. */
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
      // The library asks no more of a metric than its name and what is to be shown.
      this.registry.registerMetric(metric as unknown as Gauge);
    }
  }

  /** The sample of a metric with these labels, in the order of its definition; hidden metrics ignore what they get. */
  sample(name: string, ...labels: readonly string[]): Sample {
    return this.metrics.get(name)?.sample(labels) ?? ignored;
  }

  /** Forgets every sample of a metric, before it is filled anew. */
  reset(name: string): void {
    this.metrics.get(name)?.reset();
  }

  /** Registers what fills metrics in just before they are shown. */
  collectWith(collector: () => Promise<void> | void): void {
    this.collectors.push(collector);
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** All metrics as text. */
  async text(): Promise<string> {
    for (const collector of this.collectors) await collector();
    return this.registry.metrics();
  }
}

function helpOf({ help, stability, deprecated }: MetricDefinition, { release }: MetricSettings): string {
  const old =
    deprecated === undefined || isLater(deprecated.since, release)
      ? ""
      : `(Deprecated from ${deprecated.since}) `;
  return `${old}[${stability}] ${help}`;
}

/** Whether a metric is no longer shown, unless the operator asked for what the release before showed. */
function isHidden(definition: MetricDefinition, { release, showHiddenFor }: MetricSettings): boolean {
  const hidden = hiddenFrom(definition);
  if (hidden === undefined || isLater(hidden, release)) return false;
  const isDeleted = hidden !== release;
  return isDeleted || showHiddenFor === "" || !isLater(hidden, showHiddenFor);
}

/**
 * The release that hides a metric; undefined for one that isn't deprecated. The next release is without it. It is shown for
 * three releases after it was deprecated, a stable one for four in all at least (spec: conventions 9.2, rules 9a and 9b).
 */
export function hiddenFrom({ deprecated, stability }: MetricDefinition): string | undefined {
  if (deprecated === undefined) return undefined;
  const usual = releaseAfter(deprecated.since, 3);
  const least = releaseAfter(deprecated.introduced, 4);
  return stability === "STABLE" && isLater(least, usual) ? least : usual;
}
