import type { MaybePromise } from "./maybe-promise.ts";
import { runSteps, runStepsPaused, type Steps } from "./steps.ts";

/** Paces the work on one request by the size of its data, so that large requests neither block the server nor exhaust its memory. */
export interface WorkPace {
  /**
   * Must be awaited before bytes are decoded. Waits while large requests of the user use too much memory.
   *
   * @param bytes an encoded body or object.
   */
  decodes(bytes: Uint8Array): MaybePromise<void>;
  /** Whether the request has decoded a large body or object. */
  readonly isLarge: boolean;
  /** Must be awaited between two steps of the work. In a large request it yields to requests of other users. */
  step(): MaybePromise<void>;
}

/** Runs a computation: in a large request it yields after each step, otherwise only for promises. */
export function runPaced<T>(steps: Steps<T>, pace: WorkPace | undefined): MaybePromise<T> {
  return pace?.isLarge === true ? runStepsPaused(steps, () => pace.step()) : runSteps(steps);
}
