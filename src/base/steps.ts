/** A computation that yields between its steps, each of which may take long. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Runs all steps of a computation without a pause. */
export function doSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
