import { expect, it, vi } from "vitest";
import { bundle } from "./bundle.ts";
import { runSimulations } from "./run.ts";
import type { SimulationReport } from "./simulation.ts";
import { effort } from "../support/effort.ts";

// Simulations measure nothing by the machine's clock, but it may be busy.
vi.setConfig({ testTimeout: 300_000 });

it("two runs of one seed have the same trace and no violations; another seed has another trace", async () => {
  const program = await bundle("replay");
  const run = async (...seeds: readonly number[]): Promise<SimulationReport[]> => {
    const reports: SimulationReport[] = [];
    const options = seeds.map((seed) => ({
      seed,
      engine: "etcd" as const,
      minutes: effort(0.5, 2),
      traceLines: 0,
    }));
    for await (const report of runSimulations(program, options)) reports.push(report);
    return reports;
  };
  const [first, other] = await run(8, 9);
  const [second] = await run(8);
  expect(first!.tasks).toBeGreaterThan(1000);
  expect([second!.digest, second!.tasks]).toEqual([first!.digest, first!.tasks]);
  expect([first, other, second].flatMap((report) => report!.violations)).toEqual([]);
  expect(other!.digest).not.toBe(first!.digest);
});
