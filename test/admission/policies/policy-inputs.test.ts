import { expect, test } from "vitest";
import { PolicyInputs, type PolicyServices } from "../../../src/admission/policies/policy-inputs.ts";
import type { AdmissionRequest } from "../../../src/resources/engine/engine.ts";

/** Inputs of a request with a deadline, at the monotonic time 1000. */
function inputsOf(expiresAt: number | undefined): PolicyInputs {
  const services = { clock: { monotonicNow: () => 1000 }, contextOf: () => ({}) };
  const effects = { state: (type: new () => unknown) => new type() };
  const request = { effects, options: { report: { expiresAt } } };
  return new PolicyInputs(services as unknown as PolicyServices, request as unknown as AdmissionRequest);
}

/** Blocks the event loop until a yield is due. */
function work(): void {
  const endMs = performance.now() + 10;
  while (performance.now() < endMs);
}

test("the policies of a request end after its deadline", async () => {
  const late = inputsOf(1000);
  work();
  await expect(late.yieldIfDue()).rejects.toMatchObject({ reason: "Timeout" });
  for (const expiresAt of [1001, undefined]) {
    const inTime = inputsOf(expiresAt);
    work();
    await inTime.yieldIfDue();
  }
});
