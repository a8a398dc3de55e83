import { revisionOf } from "../entry.ts";
import type { Revision } from "../store.ts";
import type { Environment } from "./databases.ts";
import { numberIn, stateIn } from "./stored-state.ts";

/** Returns the revision that was the newest at a time (milliseconds since 1970); 0 if the marks don't reach back to it. */
export function revisionAtTime({ marks, meta }: Environment, timeMs: number): Revision {
  const { revision, markTime } = stateIn(meta.getBinaryFast("state"));
  if (markTime <= timeMs) return revision;
  // A reverse range goes from `start` down to the first mark.
  for (const { value } of marks.getRange({ start: Math.max(0, timeMs), reverse: true, limit: 1 }))
    return revisionOf(numberIn(value));
  return revisionOf(0);
}

/** Returns the time of the first write that has a mark, in milliseconds since 1970. */
export function oldestMarkTime({ marks, meta }: Environment): number {
  // A new store has a mark at 0, before its first write.
  const [timeMs] = marks.getKeys({ start: 1, limit: 1 });
  return timeMs ?? stateIn(meta.getBinaryFast("state")).markTime;
}
