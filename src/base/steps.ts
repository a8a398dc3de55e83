import type { MaybePromise } from "./maybe-promise.ts";

/** A computation that yields between its steps, each of which may take long. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Does all steps of a computation in one go. */
export function doSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/**
 * Does the steps of a computation one by one.
 *
 * @param before is awaited before each step.
 */
export async function doStepsInTurns<T>(steps: Steps<T>, before: () => MaybePromise<void>): Promise<T> {
  for (;;) {
    await before();
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
