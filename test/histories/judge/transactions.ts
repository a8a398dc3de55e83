import { describe, type History, type Operation, type Violation } from "../history.ts";
import type { Timeline } from "./timeline.ts";

/** The writes of a transaction took effect at one revision, or none of them did. Linear in the history. */
export function judgeTransactions(history: History, timeline: Timeline): Violation[] {
  const byTransaction = new Map<number, Operation[]>();
  for (const operation of history.operations) {
    const { transaction } = operation;
    if (transaction === undefined) continue;
    const others = byTransaction.get(transaction);
    if (others === undefined) byTransaction.set(transaction, [operation]);
    else others.push(operation);
  }
  const violations: Violation[] = [];
  for (const operations of byTransaction.values()) {
    const revisions = new Set(operations.map((operation) => timeline.revisionOf(operation)));
    if (revisions.size === 1) continue;
    const shown = [...revisions].map((revision) => revision ?? "none").join(", ");
    violations.push({
      law: "transactions",
      message: `a transaction took effect at the revisions ${shown}: ${operations.map(describe).join(", ")}`,
    });
  }
  return violations;
}
