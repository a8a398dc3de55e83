import type { MaybePromise } from "./maybe-promise.ts";

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

/**
 * A computation that yields between its steps, each of which may take long. A yielded promise must be awaited before the next step.
 */
export type Steps<T> = Generator<Promise<void> | undefined, T, undefined>;

/** Runs all steps of a computation without yielding. The computation must not yield promises. */
export function doSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (value !== undefined) throw new Error("a computation without pauses yielded a promise");
  }
}

/** Runs all steps of a computation; pauses only for the promises that it yields. */
export function runSteps<T>(steps: Steps<T>): MaybePromise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (value !== undefined) return runStepsPaused(steps, () => undefined, value);
  }
}

/**
 * As {@link runSteps}, with a pause before each step.
 *
 * @param waiting the promise that the computation yielded last.
 */
export async function runStepsPaused<T>(
  steps: Steps<T>,
  pause: () => MaybePromise<void>,
  waiting?: Promise<void>,
): Promise<T> {
  let pending = waiting;
  for (;;) {
    const { done, value } = await nextStep(steps, pending, pause);
    if (done === true) return value;
    pending = value;
  }
}

async function nextStep<T>(
  steps: Steps<T>,
  pending: Promise<void> | undefined,
  pause: () => MaybePromise<void>,
): Promise<IteratorResult<Promise<void> | undefined, T>> {
  await pause();
  try {
    await pending;
  } catch (error) {
    return steps.throw(error);
  }
  return steps.next();
}

/** Waits for a value as a step of a computation. */
export function* waitFor<T>(value: MaybePromise<T>): Steps<T> {
  if (!(value instanceof Promise)) return value;
  let result: T | undefined;
  yield value.then((resolved) => void (result = resolved));
  return result as T;
}
