import { expect, test } from "vitest";
import { verify } from "./world/verify.ts";

test("a server over an embedded store that is killed and frozen has a history without violations", async () => {
  const { report } = await verify({
    engine: "lmdb",
    servers: 1,
    members: 0,
    clients: 6,
    seed: 1,
    seconds: 4,
    roundSeconds: 4,
    // Short faults, so that a short run has several.
    maxFaultMs: 700,
    maxPauseMs: 800,
  });
  expect(report.violations).toEqual([]);
  expect(report.uncoveredRounds).toBeLessThan(report.rounds);
  expect(report.operations).toBeGreaterThan(20);
  expect(report.events).toBeGreaterThan(20);
  expect(report.faults.size).toBeGreaterThan(0);
}, 120_000);
