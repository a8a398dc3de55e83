import type { MaybePromise } from "../../base/turns/maybe-promise.ts";

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
