import type { Meter } from "./meter.ts";
import type { Value } from "./values.ts";

/** The state of an evaluation. */
export interface Evaluation {
  readonly meter: Meter;
  /** Values of the variables, followed by those of loop variables. */
  readonly slots: Value[];
}

/** Evaluates one part of an expression. */
export type Step = (evaluation: Evaluation) => Value;
