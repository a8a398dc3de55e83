import type { Meter } from "../costs/meter.ts";
import type { Value } from "../values/values.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";

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

/**
 * Interrupts an evaluation until work outside of it is done. The evaluation is then repeated from its beginning; what the work has
 * found out must be cached, so that the repetition gets further.
 */
export class Suspension extends Error {
  override name = "Suspension";
  /** Cost of the evaluations that have to be repeated. */
  lostCost = 0;

  constructor(readonly work: () => MaybePromise<void>) {
    super("the evaluation is suspended");
  }
}
