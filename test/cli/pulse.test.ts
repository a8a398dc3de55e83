import { expect, test } from "vitest";
import { Pulses } from "../../src/cli/workers/pulse.ts";

test("a process whose messages stop is frozen, once, and others are not", () => {
  const frozen: string[] = [];
  const pulses = new Pulses<string>((child) => frozen.push(child));
  for (const child of ["stopped", "running", "ended"]) pulses.beat(child);
  for (let tick = 0; tick < 30; tick++) {
    pulses.beat("running");
    pulses.tick();
    if (tick === 3) pulses.remove("ended");
    if (tick < 10) expect(frozen).toEqual([]);
  }
  expect(frozen).toEqual(["stopped"]);
});
