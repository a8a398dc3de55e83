import type { History, Operation, Violation } from "../history.ts";
import { judgeRegisters } from "./linearizability.ts";
import type { Timeline } from "./timeline.ts";

/**
 * Decisions follow grants and removals: a review is a read of whether the RoleBinding exists that alone grants the right, in the
 * same linearizable register as the writes of the binding. A review may be as old as the history's `decisionDelayNs`.
 */
export function judgeDecisions(history: History, timeline: Timeline): Violation[] {
  const reviewed = new Set<string>();
  for (const { request } of history.operations) if (request.verb === "review") reviewed.add(request.key);
  const operations = history.operations
    .filter(({ request }) => "key" in request && reviewed.has(request.key))
    .map((operation) => withDelay(operation, history.decisionDelayNs));
  return judgeRegisters("decisions", history, timeline, operations);
}

function withDelay(operation: Operation, delayNs: number): Operation {
  return operation.request.verb === "review"
    ? { ...operation, beginNs: operation.beginNs - delayNs }
    : operation;
}
