import { describe, expect, test } from "vitest";
import { explore, ExploreError, type Exploration } from "../../../src/index.ts";
import { cases } from "./controllers.ts";

const server = { enabledControllers: ["*", "-root-ca-cert-publisher"] };

describe.each(Object.entries(cases))("a controller with %s", (_, { start, test: run }) => {
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

  test("passes 200 schedules when it is corrected", async () => {
    const report = await explore({ seeds: 200, server }, runWith(false));
    expect(report.schedules).toBe(200);
    expect(report.faults).toBeGreaterThan(100);
  });
});
