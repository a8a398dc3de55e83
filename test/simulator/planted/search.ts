import { bundle } from "../bundle.ts";
import { runSimulations } from "../run.ts";
import type { Violation } from "../laws/violations.ts";
import type { PlantedDefect } from "./defects.ts";

/** How a planted defect was searched. */
export interface SearchReport {
  /** The violation that shows the defect; undefined if no seed has found it. */
  readonly found: Violation | undefined;
  /** Number of seeds that were run. */
  readonly seeds: number;
  readonly processorMs: number;
}

/** The parameters of a search. */
export interface SearchOptions {
  readonly firstSeed: number;
  readonly maxSeeds: number;
  /** Virtual minutes with faults of each seed. */
  readonly minutes: number;
}

/**
 * Runs seeds with a planted defect until one of its laws is violated.
 *
 * @throws {Error} if a patch doesn't apply, or the simulation itself fails.
 */
export async function searchDefect(defect: PlantedDefect, options: SearchOptions): Promise<SearchReport> {
  const { firstSeed, maxSeeds, minutes } = options;
  const program = await bundle(`planted-${defect.name.replaceAll(/[^A-Za-z]+/g, "-")}`, defect.patches);
  const seeds = Array.from({ length: maxSeeds }, (_, index) => ({
    seed: firstSeed + index,
    engine: defect.engine ?? ("etcd" as const),
    minutes,
    traceLines: 0,
    endsAtViolation: true,
  }));
  let [count, processorMs] = [0, 0];
  for await (const report of runSimulations(program, seeds)) {
    count++;
    processorMs += report.processorMs;
    const found = report.violations.find(({ law }) => defect.laws.includes(law));
    if (found !== undefined) return { found, seeds: count, processorMs };
  }
  return { found: undefined, seeds: count, processorMs };
}
