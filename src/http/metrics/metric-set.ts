import Counter from "prom-client/lib/counter.js";
import Gauge from "prom-client/lib/gauge.js";
import Histogram from "prom-client/lib/histogram.js";
import Registry from "prom-client/lib/registry.js";
import { isLater } from "../../kinds/life-cycles.ts";

/** What is promised of a metric (spec: conventions 9.2, rules 9a and 9b). */
export type Stability = "ALPHA" | "STABLE";

/** One metric, before it is registered. */
export interface MetricDefinition {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly stability: Stability;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
  /** Release since which it is deprecated: `1.24`. */
  readonly deprecated?: string;
}

/** Which metrics are shown, and who is told of deprecated ones. */
export interface MetricSettings {
  /** The release of this server. */
  readonly release: string;
  /** Deprecated metrics that this release hides are shown as this one did; empty: they aren't. */
  readonly showHiddenFor: string;
  readonly warn: (message: string) => void;
}

/** So many releases after its deprecation a metric is hidden. */
const hiddenAfter = 3;

/** The values of one combination of labels. */
export interface Sample {
  inc(by?: number): void;
  dec(by?: number): void;
  set(value: number): void;
  observe(value: number): void;
}

const ignored: Sample = {
  inc: () => undefined,
  dec: () => undefined,
  set: () => undefined,
  observe: () => undefined,
};

/** The metrics of one server. Asking for a sample is cheap, so that it can be done at every request. */
export class MetricSet {
  private readonly registry = new Registry();
  private readonly metrics = new Map<string, Counter | Gauge | Histogram>();
  private readonly samples = new Map<string, Sample>();
  private readonly collectors: (() => Promise<void> | void)[] = [];

  constructor(definitions: readonly MetricDefinition[], settings: MetricSettings) {
    for (const definition of definitions) {
      if (isHidden(definition, settings)) continue;
      const { name, deprecated } = definition;
      if (deprecated !== undefined && !isLater(deprecated, settings.release)) {
        settings.warn(`the metric ${name} is deprecated since ${deprecated}`);
      }
      this.metrics.set(name, this.register(definition, settings));
    }
  }

  /** The sample of a metric with these labels, in the order of its definition; hidden metrics ignore what they get. */
  sample(name: string, ...labels: readonly string[]): Sample {
    const key = `${name}\n${labels.join("\n")}`;
    let found = this.samples.get(key);
    if (found === undefined) {
      const metric = this.metrics.get(name) as Gauge | undefined;
      found = metric === undefined ? ignored : (metric.labels(...labels) as unknown as Sample);
      this.samples.set(key, found);
    }
    return found;
  }

  /** Forgets every sample of a metric, before it is filled anew. */
  reset(name: string): void {
    this.metrics.get(name)?.reset();
    for (const key of this.samples.keys()) if (key.startsWith(`${name}\n`)) this.samples.delete(key);
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

  private register(definition: MetricDefinition, settings: MetricSettings): Counter | Gauge | Histogram {
    const { name, type, labels, buckets } = definition;
    const options = {
      name,
      help: helpOf(definition, settings),
      labelNames: [...labels],
      registers: [this.registry],
    };
    if (type === "counter") return new Counter(options);
    if (type === "gauge") return new Gauge(options);
    return new Histogram({ ...options, buckets: [...(buckets ?? [])] });
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
