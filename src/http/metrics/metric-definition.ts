/** What is promised of a metric (spec: conventions 9.2, rules 9a and 9b). */
export type Stability = "ALPHA" | "STABLE";

/** The life of a metric that is deprecated, in releases such as `1.24`. */
export interface MetricDeprecation {
  readonly introduced: string;
  readonly since: string;
}

/** One metric, before it is registered. */
export interface MetricDefinition {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly stability: Stability;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
  readonly deprecated?: MetricDeprecation;
}
