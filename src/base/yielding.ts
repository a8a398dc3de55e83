import { setImmediate } from "node:timers/promises";
import type { MaybePromise } from "./maybe-promise.ts";

/** Milliseconds that long work may block the event loop between two yields. */
const maxBlockingMs = 3;

/** Yields to the event loop if the work has run for longer than 3 ms since the last yield. Await it between the steps of long work. */
export type YieldIfDue = () => MaybePromise<void>;

/**
 * Creates the yielder of one piece of long work; its time starts now.
 *
 * @param pause resolves when the work may continue; the default is the next turn of the event loop.
 */
export function createYielder(pause: () => Promise<void> = setImmediate): YieldIfDue {
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
