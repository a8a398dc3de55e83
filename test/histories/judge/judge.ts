import type { History, Violation } from "../history.ts";
import { judgeAllocations } from "./allocations.ts";
import { judgeCoverage } from "./coverage.ts";
import { judgeDecisions } from "./decisions.ts";
import { judgeEffects } from "./effects.ts";
import { judgeLeaders } from "./leaders.ts";
import { judgeLinearizability } from "./linearizability.ts";
import { judgeLists } from "./lists.ts";
import { judgeQuotas } from "./quotas.ts";
import { judgeRevisionOrder } from "./revision-order.ts";
import { Timeline } from "./timeline.ts";
import { judgeTransactions } from "./transactions.ts";
import { judgeWatches } from "./watches.ts";

/** Laws that hold whatever the watches cover. */
const independentLaws = [judgeEffects, judgeRevisionOrder, judgeWatches, judgeLeaders];

/** Laws that need the revision of every deletion. */
const coveredLaws = [
  judgeTransactions,
  judgeLinearizability,
  judgeLists,
  judgeDecisions,
  judgeQuotas,
  judgeAllocations,
];

/**
 * Returns every violation of a law by a history.
 *
 * If the watches of the history don't cover all its writes, a violation of `coverage` says so, and the laws that need this aren't
 * judged. The cost is about linear in the operations and frames. Histories of many hours are judged in rounds: each begins with the
 * state in which the previous one ended.
 */
export function judge(history: History): Violation[] {
  const timeline = new Timeline(history);
  const uncovered = judgeCoverage(history, timeline);
  const laws = uncovered.length === 0 ? [...independentLaws, ...coveredLaws] : independentLaws;
  return [...uncovered, ...laws.flatMap((law) => law(history, timeline))];
}
