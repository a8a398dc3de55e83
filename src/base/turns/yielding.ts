import type { MaybePromise } from "./maybe-promise.ts";

/** Milliseconds that long work may block the event loop between two yields. */
const maxBlockingMs = 3;

/** Long work that waits for its turn, by the function that schedules turns, which tests replace. */
const waitingByLoop = new WeakMap<typeof setImmediate, (() => void)[]>();

/**
 * Resolves in a later turn of the event loop, in the order of the calls and once in each turn. So all long work of the process together
 * blocks the event loop for one step at a time, however much of it there is.
 */
export function nextTurn(): Promise<void> {
  const { setImmediate: schedule } = globalThis;
  let waiting = waitingByLoop.get(schedule);
  if (waiting === undefined) waitingByLoop.set(schedule, (waiting = []));
  const line = waiting;
  const begin = (): void => {
    line.shift()!();
    if (line.length > 0) schedule(begin);
  };
  return new Promise((resolve) => {
    if (line.push(resolve) === 1) schedule(begin);
  });
}

/** Yields to the event loop if the work has run for longer than 3 ms since the last yield. Await it between the steps of long work. */
export type YieldIfDue = () => MaybePromise<void>;

/**
 * Creates the yielder of one piece of long work; its time starts now.
 *
 * @param pause resolves when the work may continue; the default is {@link nextTurn}.
 */
export function createYielder(pause: () => Promise<void> = nextTurn): YieldIfDue {
  let since = performance.now();
  return () => {
    if (performance.now() - since < maxBlockingMs) return undefined;
    return pause().then(() => {
      since = performance.now();
    });
  };
}

/** Maps items in order, and yields to the event loop as {@link createYielder} does. */
export async function mapInTurns<T, R>(
  items: readonly T[],
  map: (item: T) => MaybePromise<R>,
): Promise<readonly R[]> {
  const yieldIfDue = createYielder();
  const results: R[] = [];
  for (const item of items) {
    const result = map(item);
    results.push(result instanceof Promise ? await result : result);
    const pause = yieldIfDue();
    if (pause !== undefined) await pause;
  }
  return results;
}
