/** One sample of a metrics page. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Samples by the name of their metric. */
export type Metrics = ReadonlyMap<string, readonly Sample[]>;

/** Parses a page in the text format of Prometheus. Lines that aren't samples are skipped. */
export function parseMetrics(text: string): Metrics {
  const metrics = new Map<string, Sample[]>();
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const open = line.indexOf("{");
    const end = open === -1 ? line.indexOf(" ") : open;
    if (end <= 0) continue;
    const { labels, rest } = open === -1 ? { labels: {}, rest: end } : parseLabels(line, open + 1);
    const value = numberOf(line.slice(rest).trim().split(" ", 1)[0] ?? "");
    if (value === undefined) continue;
    const name = line.slice(0, end);
    const samples = metrics.get(name);
    if (samples === undefined) metrics.set(name, [{ labels, value }]);
    else samples.push({ labels, value });
  }
  return metrics;
}

function parseLabels(
  line: string,
  start: number,
): { readonly labels: Record<string, string>; readonly rest: number } {
  const labels: Record<string, string> = {};
  let at = start;
  while (at < line.length && line[at] !== "}") {
    const equals = line.indexOf("=", at);
    if (equals === -1) break;
    const name = line.slice(at, equals).replace(/^,/, "").trim();
    let value = "";
    // After the quotation mark.
    at = equals + 2;
    while (at < line.length && line[at] !== '"') {
      if (line[at] === "\\") {
        at++;
        value += line[at] === "n" ? "\n" : (line[at] ?? "");
      } else value += line[at];
      at++;
    }
    labels[name] = value;
    at++;
  }
  return { labels, rest: at + 1 };
}

function numberOf(text: string): number | undefined {
  if (text === "+Inf") return Infinity;
  const value = Number(text);
  return text === "" || Number.isNaN(value) ? undefined : value;
}

/** Returns the sum of the samples of a metric for which a condition holds. */
export function sumOf(
  metrics: Metrics,
  name: string,
  holds: (labels: Sample["labels"]) => boolean = () => true,
): number {
  return (metrics.get(name) ?? []).reduce((sum, { labels, value }) => (holds(labels) ? sum + value : sum), 0);
}

/** Returns the sums of a metric by the value of a label. */
export function sumsBy(metrics: Metrics, name: string, label: string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { labels, value } of metrics.get(name) ?? []) {
    const key = labels[label] ?? "";
    sums.set(key, (sums.get(key) ?? 0) + value);
  }
  return sums;
}

/** Cumulative counts of a histogram by the upper bound of the bucket, in order. */
export type Buckets = readonly (readonly [bound: number, count: number])[];

/** Returns the buckets of a histogram, summed over all labels. */
export function bucketsOf(metrics: Metrics, name: string): Buckets {
  const counts = new Map<number, number>();
  for (const { labels, value } of metrics.get(`${name}_bucket`) ?? []) {
    const bound = numberOf(labels["le"] ?? "");
    if (bound !== undefined) counts.set(bound, (counts.get(bound) ?? 0) + value);
  }
  return [...counts.entries()].toSorted(([one], [other]) => one - other);
}

/**
 * Returns a quantile of the observations between two states of a histogram, interpolated within its bucket; NaN if there were none.
 */
export function quantileBetween(before: Buckets, after: Buckets, quantile: number): number {
  const earlier = new Map(before);
  const counts = after.map(([bound, count]) => [bound, count - (earlier.get(bound) ?? 0)] as const);
  const total = counts.at(-1)?.[1] ?? 0;
  if (total <= 0) return Number.NaN;
  const rank = quantile * total;
  let [lower, below] = [0, 0];
  for (const [bound, count] of counts) {
    if (count >= rank) {
      if (bound === Infinity) return lower;
      return lower + ((bound - lower) * (rank - below)) / Math.max(1, count - below);
    }
    [lower, below] = [bound, count];
  }
  return lower;
}
