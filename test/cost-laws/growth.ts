import { cpuStopwatch } from "../support/cpu-time.ts";

/** Processor time for n, 2n and 4n entries, in milliseconds. */
export type Growth = readonly [n: number, twice: number, fourTimes: number];

/** Attempts to measure a growth that looks too large: another program or the garbage collector may have disturbed one. */
const usualAttempts = 6;

/** A time below which differences are noise, in milliseconds. */
const smallMs = 25;

/**
 * Four times the entries cost 4 times the time, or 4.7 times with n log n. Only a growth above this factor counts: with a part
 * that grows as n², it is reached when this part is about half of the time for 4n entries.
 */
const maxFactor = 7.5;

/** Whether the time grows faster than n log n. */
export function isTooFast([n, , fourTimes]: Growth): boolean {
  return fourTimes > smallMs && fourTimes > maxFactor * Math.max(n, smallMs / 16);
}

/**
 * Measures the processor time of an action for n, 2n and 4n entries. Repeats the measurement as long as the growth is too fast, and
 * returns the smallest times.
 *
 * @param prepare returns the action for a number of entries; what it does itself isn't measured. The action can be repeated.
 * @param attempts number of measurements if the growth is too fast.
 */
export async function growthOf(
  n: number,
  prepare: (count: number) => Promise<() => Promise<unknown>>,
  attempts = usualAttempts,
): Promise<Growth> {
  const actions: (() => Promise<unknown>)[] = [];
  for (const count of [n, 2 * n, 4 * n]) actions.push(await prepare(count));
  const best: [number, number, number] = [Infinity, Infinity, Infinity];
  // The first call compiles code and fills caches.
  await actions[0]!();
  for (let attempt = 0; attempt < attempts; attempt++) {
    for (const [index, action] of actions.entries()) {
      const stopwatch = cpuStopwatch();
      await action();
      best[index] = Math.min(best[index]!, stopwatch());
    }
    if (!isTooFast(best)) break;
  }
  return best;
}
