import type { Release } from "../../base/releases.ts";

/** Stability level of a metric (spec: conventions 9.2, rules 9a and 9b). */
export type Stability = "ALPHA" | "STABLE";

/** Releases in the life of a deprecated metric, such as `1.24`. */
export interface MetricDeprecation {
  readonly introduced: string;
  readonly since: string;
}

/** Definition of a metric. */
export interface MetricDefinition {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly stability: Stability;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
  /** First release that has the metric; undefined if all have it. */
  readonly since?: Release;
  readonly deprecated?: MetricDeprecation;
  /** Whether a gauge records what has happened since the start, as a counter does, and not a current state. */
  readonly isRecord?: true;
  /** How the values of several processes of one server are combined; by default they are added. */
  readonly combined?: "max" | "min";
}
