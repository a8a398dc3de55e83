import type { Clock } from "../base/time/clock.ts";

/**
 * Returns a source of milliseconds since 1970 that starts at the clock's wall time and then advances with its monotonic time. The age of
 * history is measured with it: when the wall clock is set forward, no history is dropped early; when it is set back, none is kept longer.
 */
export function steadyTime(clock: Clock): () => number {
  const startMs = clock.now() - clock.monotonicNow();
  return () => startMs + clock.monotonicNow();
}
