/**
 * Conformance suite for storage engines: it tests the contract in `store.ts`. It is independent of a test runner: a case is a name
 * and a function that rejects with an `AssertionError` if the store violates the contract.
 */
import { readCases } from "./conformance/read-cases.ts";
import { retentionCases } from "./conformance/retention-cases.ts";
import { stampCases } from "./conformance/stamp-cases.ts";
import { subscriptionCases } from "./conformance/subscription-cases.ts";
import type { ConformanceCase, StoreUnderTest } from "./conformance/support.ts";
import { transactionCases } from "./conformance/transaction-cases.ts";
import { writeCases } from "./conformance/write-cases.ts";

export type { ConformanceCase, StoreUnderTest } from "./conformance/support.ts";

/**
 * Returns all cases.
 *
 * @param open opens a new, empty store. It is called at the start of each case; the case disposes of the store at its end.
 */
export function storeConformance(open: () => Promise<StoreUnderTest>): ConformanceCase[] {
  const scenarios = [
    ...writeCases,
    ...transactionCases,
    ...readCases,
    ...subscriptionCases,
    ...retentionCases,
    ...stampCases,
  ];
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
