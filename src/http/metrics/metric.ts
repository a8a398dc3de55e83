import type { MetricDefinition } from "./metric-definition.ts";

/** The values of one combination of labels. */
export interface Sample {
  inc(by?: number): void;
  dec(by?: number): void;
  set(value: number): void;
  observe(value: number): void;
}

/** The value of a sample; of a histogram the number of observations in each bucket, the sum and the count of all. */
type SampleNumbers = readonly number[];

/** The samples of a metric in one process: the text of their labels, and their values. */
export type SampleValues = readonly (readonly [labels: string, numbers: SampleNumbers])[];

/** A metric and its samples. A sample is looked up once, so that counting is cheap enough for every request. */
export class Metric {
  private readonly samples = new Map<string, Recorder>();

  constructor(
    private readonly definition: MetricDefinition,
    private readonly help: string,
  ) {
    this.reset();
  }

  /** Returns the sample with these labels, in the order of the definition; the same object until the next reset. */
  sample(labels: readonly string[]): Sample {
    const key = labels.join("\n");
    let existing = this.samples.get(key);
    if (existing === undefined) {
      const { type, labels: names, buckets = [] } = this.definition;
      const text = names.map((name, index) => `${name}="${escapeLabel(labels[index] ?? "")}"`).join(",");
      existing = type === "histogram" ? new Distribution(text, buckets) : new SingleValue(text);
      this.samples.set(key, existing);
    }
    return existing;
  }

  /** Removes all samples; a metric without labels always has one. */
  reset(): void {
    this.samples.clear();
    if (this.definition.labels.length === 0) this.sample([]);
  }

  /** Sets all samples to zero, except those of a gauge that shows a current state. */
  clear(): void {
    const { type, isRecord } = this.definition;
    if (type === "gauge" && isRecord !== true) return;
    for (const sample of this.samples.values()) sample.clear();
  }

  /** Returns the current values of all samples. */
  values(): SampleValues {
    return Array.from(this.samples.values(), (sample) => [sample.labels, sample.numbers()]);
  }

  /**
   * Returns the metric in the text format, in pieces: one for each sample. The samples are those of the first call; their values may change
   * between two pieces.
   *
   * @param others the samples of this metric in other processes, to be combined with those of this process.
   */
  *pieces(others: readonly SampleValues[]): Generator<string> {
    const { name, type } = this.definition;
    yield `# HELP ${name} ${escapeText(this.help)}\n# TYPE ${name} ${type}\n`;
    if (others.length > 0) {
      for (const [labels, numbers] of this.combined(others)) yield this.lines(labels, numbers);
      return;
    }
    const samples = Array.from(this.samples.values());
    for (const sample of samples) yield this.lines(sample.labels, sample.numbers());
  }

  private combined(others: readonly SampleValues[]): ReadonlyMap<string, SampleNumbers> {
    const { combined } = this.definition;
    const combine = combined === undefined ? add : Math[combined];
    const all = new Map(this.values());
    for (const [labels, numbers] of others.flat()) {
      const first = all.get(labels);
      all.set(labels, first?.map((value, index) => combine(value, numbers[index]!)) ?? numbers);
    }
    return all;
  }

  private lines(labels: string, numbers: SampleNumbers): string {
    const { name, type, buckets = [] } = this.definition;
    const all = labels === "" ? "" : `{${labels}}`;
    if (type !== "histogram") return `${name}${all} ${numberText(numbers[0]!)}\n`;
    const further = labels === "" ? "" : `,${labels}`;
    const [sum, count] = numbers.slice(buckets.length);
    let text = "";
    let below = 0;
    for (const [index, bound] of buckets.entries()) {
      below += numbers[index]!;
      text += `${name}_bucket{le="${bound}"${further}} ${below}\n`;
    }
    text += `${name}_bucket{le="+Inf"${further}} ${count}\n`;
    return `${text}${name}_sum${all} ${numberText(sum!)}\n${name}_count${all} ${count}\n`;
  }
}

function add(one: number, other: number): number {
  return one + other;
}

function numberText(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}

function escapeText(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function escapeLabel(value: string): string {
  return escapeText(value).replaceAll('"', '\\"');
}

interface Recorder extends Sample {
  readonly labels: string;
  numbers(): SampleNumbers;
  clear(): void;
}

/** The value of a counter or gauge. */
class SingleValue implements Recorder {
  private value = 0;
  constructor(readonly labels: string) {}

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

  numbers(): SampleNumbers {
    return [this.value];
  }

  clear(): void {
    this.value = 0;
  }
}

/** The values of a histogram. */
class Distribution implements Recorder {
  private readonly counts: number[];
  private sum = 0;
  private count = 0;

  constructor(
    readonly labels: string,
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

  numbers(): SampleNumbers {
    return [...this.counts, this.sum, this.count];
  }

  clear(): void {
    this.counts.fill(0);
    this.sum = 0;
    this.count = 0;
  }
}
