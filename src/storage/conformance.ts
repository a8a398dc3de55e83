/**
 * The suite that every engine passes: `store.ts`, sentence by sentence. It knows no test runner: a case is a name and a
 * function that rejects with an `AssertionError` when the store breaks the contract.
 */
import { readCases } from "./conformance/read-cases.ts";
import { retentionCases } from "./conformance/retention-cases.ts";
import { stampCases } from "./conformance/stamp-cases.ts";
import { subscriptionCases } from "./conformance/subscription-cases.ts";
import type { ConformanceCase, StoreUnderTest } from "./conformance/support.ts";
import { writeCases } from "./conformance/write-cases.ts";

export type { ConformanceCase, StoreUnderTest } from "./conformance/support.ts";

/**
 * All cases of the contract.
 *
 * @param open makes a fresh, empty store; called at the start of each case, which closes what it was given at its end.
 */
export function storeConformance(open: () => Promise<StoreUnderTest>): ConformanceCase[] {
  const scenarios = [...writeCases, ...readCases, ...subscriptionCases, ...retentionCases, ...stampCases];
  return scenarios.map(({ name, run }) => ({
    name,
    async run() {
      const subject = await open();
      try {
        return await run(subject);
      } finally {
        await subject.dispose();
      }
    },
  }));
}
