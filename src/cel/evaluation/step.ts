import type { Meter } from "../costs/meter.ts";
import type { Value } from "../values/values.ts";

/** Returns the value of a variable that is evaluated at its first use; later calls return the same value. */
export type LazyValue = () => Value;

/** The state of an evaluation. */
export interface Evaluation {
  readonly meter: Meter;
  /** Values of the variables, followed by those of loop variables, which are never lazy. */
  readonly slots: (Value | LazyValue)[];
}

/** Evaluates one part of an expression. */
export type Step = (evaluation: Evaluation) => Value;
