import { beforeAll, expect, it, vi } from "vitest";
import { bundle } from "./bundle.ts";
import { runSimulations } from "./run.ts";
import type { SimulationReport } from "./simulation.ts";

// Simulations measure nothing by the machine's clock, but it may be busy.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

let program: string;
beforeAll(async () => {
  program = await bundle("replay");
});

async function run(seed: number): Promise<SimulationReport> {
  for await (const report of runSimulations(program, [{ seed, minutes: 3, traceLines: 0 }])) return report;
  throw new Error("no report");
}

it("two runs of one seed have the same trace and no violations; another seed has another trace", async () => {
  const first = await run(7);
  const second = await run(7);
  expect(first.tasks).toBeGreaterThan(1000);
  expect([second.digest, second.tasks]).toEqual([first.digest, first.tasks]);
  expect([...first.violations, ...second.violations]).toEqual([]);
  expect((await run(8)).digest).not.toBe(first.digest);
});
