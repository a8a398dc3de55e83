import { describe, expect, test } from "vitest";
import { explore, ExploreError, type Exploration } from "../../../src/index.ts";
import { cases } from "./controllers.ts";
import { effort } from "../../support/effort.ts";

const server = { enabledControllers: ["*", "-root-ca-cert-publisher"] };

/** Schedules of faults that a corrected controller must pass. */
const schedules = effort(20, 200);

/** Each case in the long form. */
const exploredCases = Object.entries(cases).slice(0, effort(1, undefined));

describe.each(exploredCases)("a controller with %s", (_, { start, test: run }) => {
  const runWith = (hasBug: boolean) => async (exploration: Exploration) => {
    exploration.start((client, clock) => start(client, clock, hasBug));
    await run(exploration);
  };

  test("passes its test without faults", async () => {
    await explore({ seeds: 1, mix: () => [], server }, runWith(true));
  });

  test("fails under one of 1,000 schedules of faults", async () => {
    await expect(explore({ seeds: 1000, server }, runWith(true))).rejects.toThrow(ExploreError);
  });

  test(`passes ${schedules} schedules when it is corrected`, async () => {
    const report = await explore({ seeds: schedules, server }, runWith(false));
    expect(report.schedules).toBe(schedules);
    expect(report.faults).toBeGreaterThan(schedules / 2);
  });
});
