import { expect, test } from "vitest";
import { postgresMissing } from "../storage/postgres-server.ts";
import { verify } from "./world/verify.ts";

test.skipIf(postgresMissing !== undefined)(
  `servers over PostgreSQL under faults have a history without violations (${postgresMissing ?? ""})`,
  async () => {
    const { report } = await verify({
      engine: "postgres",
      servers: 2,
      members: 0,
      clients: 6,
      seed: 2,
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
  },
  120_000,
);
