import type { MetricDefinition } from "./metric-definition.ts";

/** The values of one combination of labels. */
export interface Sample {
  inc(by?: number): void;
  dec(by?: number): void;
  set(value: number): void;
  observe(value: number): void;
}

/** A line of a metric in the form of the library. */
interface Line {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * A metric and its samples. The library's own metrics look up labels at every change; here a sample is looked up once,
 * so that counting is cheap enough for every request.
 */
export class Metric {
  readonly name: string;
  readonly type: MetricDefinition["type"];
  private readonly labelNames: readonly string[];
  private readonly buckets: readonly number[];
  private readonly aggregator: "sum" | "max" | "min";
  private readonly samples = new Map<string, Recorder>();

  constructor(
    { name, type, labels, buckets = [], combined }: MetricDefinition,
    readonly help: string,
  ) {
    this.name = name;
    this.type = type;
    this.labelNames = labels;
    this.buckets = buckets;
    this.aggregator = combined ?? "sum";
    this.reset();
  }

  /** Returns the sample with these labels, in the order of the definition; the same object until the next reset. */
  sample(labels: readonly string[]): Sample {
    const key = labels.join("\n");
    let existing = this.samples.get(key);
    if (existing === undefined) {
      const named = Object.fromEntries(this.labelNames.map((name, index) => [name, labels[index] ?? ""]));
      existing = this.type === "histogram" ? new Distribution(named, this.buckets) : new SingleValue(named);
      this.samples.set(key, existing);
    }
    return existing;
  }

  /** Removes all samples; a metric without labels always has one. */
  reset(): void {
    this.samples.clear();
    if (this.labelNames.length === 0) this.sample([]);
  }

  /** Called by the library. */
  get(): Promise<object> {
    const { name, help, type, aggregator } = this;
    const values = [...this.samples.values()].flatMap((sample) => sample.lines(name));
    return Promise.resolve({ name, help, type, values, aggregator });
  }
}

interface Recorder extends Sample {
  /** Returns the lines of the sample, for a metric of this name. */
  lines(name: string): readonly Line[];
}

/** The value of a counter or gauge. */
class SingleValue implements Recorder {
  private value = 0;
  constructor(private readonly labels: Readonly<Record<string, string>>) {}

  inc(by = 1): void {
    this.value += by;
  }

  dec(by = 1): void {
    this.value -= by;
  }

  set(value: number): void {
    this.value = value;
  }

  observe(value: number): void {
    this.value = value;
  }

  lines(): readonly Line[] {
    return [{ labels: this.labels, value: this.value }];
  }
}

/** The values of a histogram. */
class Distribution implements Recorder {
  private readonly counts: number[];
  private sum = 0;
  private count = 0;

  constructor(
    private readonly labels: Readonly<Record<string, string>>,
    private readonly buckets: readonly number[],
  ) {
    this.counts = buckets.map(() => 0);
  }

  observe(value: number): void {
    this.sum += value;
    this.count++;
    for (let index = 0; index < this.buckets.length; index++) {
      if (value > this.buckets[index]!) continue;
      this.counts[index]!++;
      return;
    }
  }

  inc(by = 1): void {
    this.observe(by);
  }

  dec(by = 1): void {
    this.observe(-by);
  }

  set(value: number): void {
    this.observe(value);
  }

  lines(name: string): readonly Line[] {
    const { labels, sum, count } = this;
    const bucket = (le: string, value: number): Line => ({
      metricName: `${name}_bucket`,
      labels: { le, ...labels },
      value,
    });
    let below = 0;
    const lines = this.buckets.map((bound, index) => bucket(String(bound), (below += this.counts[index]!)));
    lines.push(bucket("+Inf", count));
    lines.push(
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    );
    return lines;
  }
}
