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
