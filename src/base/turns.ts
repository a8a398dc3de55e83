import { setImmediate } from "node:timers/promises";
import type { MaybePromise } from "./maybe-promise.ts";

/** Long work lets others have their turn after this time. */
const turnMs = 3;

/** To be awaited between the steps of long work: it waits only where the work has gone on for long. */
export type GiveTurn = () => MaybePromise<void>;

/** For one piece of long work. */
export function turnGiver(): GiveTurn {
  let since = performance.now();
  return () => {
    if (performance.now() - since < turnMs) return undefined;
    return setImmediate().then(() => {
      since = performance.now();
    });
  };
}
