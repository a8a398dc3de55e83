import type { Gauge } from "prom-client";
import Registry from "prom-client/lib/registry.js";
import { isLater } from "../../kinds/life-cycles.ts";
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

/** So many releases after its deprecation a metric is hidden. */
const hiddenAfter = 3;

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
      if (deprecated !== undefined && !isLater(deprecated, settings.release)) {
        settings.warn(`the metric ${name} is deprecated since ${deprecated}`);
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
    deprecated === undefined || isLater(deprecated, release) ? "" : `(Deprecated from ${deprecated}) `;
  return `${old === "" ? `[${stability}] ` : `${old}[${stability}] `}${help}`;
}

/** Whether a metric is no longer shown, unless the operator asked for what an older release showed. */
function isHidden({ deprecated }: MetricDefinition, { release, showHiddenFor }: MetricSettings): boolean {
  if (deprecated === undefined) return false;
  const hiddenFrom = plus(deprecated, hiddenAfter);
  if (isLater(hiddenFrom, release)) return false;
  return showHiddenFor === "" || !isLater(hiddenFrom, showHiddenFor);
}

function plus(release: string, minors: number): string {
  const [major = 0, minor = 0] = release.split(".").map(Number);
  return `${major}.${minor + minors}`;
}
