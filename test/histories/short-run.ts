import { expect } from "vitest";
import { verify, type VerifyOptions } from "./world/verify.ts";

/** Time limit of a test with a short run, in milliseconds. */
export const shortRunTimeoutMs = 120_000;

/** Runs servers under faults for four seconds; requires operations, events and faults, and a history without violations. */
export async function checkShortRun(
  setting: Pick<VerifyOptions, "engine" | "servers" | "members" | "seed" | "workers" | "keepsHistory">,
): Promise<void> {
  const { report } = await verify({
    ...setting,
    clients: 6,
    workspaces: 1,
    seconds: 4,
    roundSeconds: 4,
    // Short faults, so that a short run has several.
    maxFaultMs: 700,
    maxPauseMs: 800,
  });
  expect(report.violations).toEqual([]);
  expect(report.uncoveredRounds).toBeLessThan(report.rounds);
  expect(report.operations).toBeGreaterThan(20);
  expect(report.branches).toBeGreaterThan(0);
  expect(report.events).toBeGreaterThan(20);
  expect(report.faults.size).toBeGreaterThan(0);
}
