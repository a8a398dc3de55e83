import type { FiredFault } from "../faults/fired-fault.ts";

/** The result of a run that failed. */
export interface FailedRun {
  readonly error: unknown;
  readonly faults: readonly FiredFault[];
}

/** Maximum number of runs to find fewer faults. */
const maxRuns = 60;

/**
 * Finds fewer faults with which a test still fails, by leaving out one after the other.
 *
 * @param failed the run with all faults.
 * @param run repeats the test without the faults with these ids; undefined if it passes.
 * @returns the failed run with the fewest faults.
 */
export async function withFewerFaults(
  failed: FailedRun,
  run: (skipped: ReadonlySet<string>) => Promise<FailedRun | undefined>,
): Promise<FailedRun> {
  let best = failed;
  let skipped: ReadonlySet<string> = new Set();
  const needed = new Set<string>();
  for (let runs = 0; runs < maxRuns; runs++) {
    const next = best.faults.findLast(({ id }) => !needed.has(id));
    if (next === undefined) return best;
    const without = new Set([...skipped, next.id]);
    const result = await run(without);
    if (result !== undefined && result.faults.length < best.faults.length) {
      best = result;
      skipped = without;
    } else needed.add(next.id);
  }
  return best;
}
