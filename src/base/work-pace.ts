import type { MaybePromise } from "./maybe-promise.ts";
import { doSteps, doStepsInTurns, type Steps } from "./steps.ts";

/** Paces the work on one request by the size of what it works with, so that large requests neither stop nor fill the server. */
export interface WorkPace {
  /**
   * To be awaited before bytes are decoded. Waits while the user's other requests work with too much.
   *
   * @param bytes an encoded body or object.
   */
  decodes(bytes: Uint8Array): MaybePromise<void>;
  /** Whether it works with something large. */
  readonly isLarge: boolean;
  /** To be awaited between two steps of the work. In a large request it waits until other users' requests had their turn. */
  step(): MaybePromise<void>;
}

/** Does the steps of a computation: in a large request each of them in a turn of its own, else in one go. */
export function inTurns<T>(steps: Steps<T>, pace: WorkPace | undefined): MaybePromise<T> {
  if (pace?.isLarge !== true) return doSteps(steps);
  return doStepsInTurns(steps, () => pace.step());
}
