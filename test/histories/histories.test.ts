import { expect, test } from "vitest";
import { verify } from "./world/verify.ts";

test("a server over an embedded store that is killed and frozen has a history without violations", async () => {
  const { report } = await verify({
    engine: "lmdb",
    servers: 1,
    members: 0,
    clients: 6,
    seed: 1,
    seconds: 6,
    roundSeconds: 6,
  });
  expect(report.violations).toEqual([]);
  expect(report.uncoveredRounds).toBeLessThan(report.rounds);
  expect(report.operations).toBeGreaterThan(20);
  expect(report.events).toBeGreaterThan(20);
  expect(report.faults.size).toBeGreaterThan(0);
}, 120_000);
