import { expect, test } from "vitest";
import { verify } from "./world/verify.ts";

test("a server over an embedded store that is killed and frozen has a history without violations", async () => {
  const { report } = await verify({
    engine: "lmdb",
    servers: 1,
    members: 0,
    clients: 6,
    seed: 1,
    seconds: 8,
    roundSeconds: 4,
  });
  expect(report.violations).toEqual([]);
  expect(report.operations).toBeGreaterThan(50);
  expect(report.events).toBeGreaterThan(50);
  expect(report.faults.size).toBeGreaterThan(0);
}, 120_000);
