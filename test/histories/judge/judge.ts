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
import { judgeWatches } from "./watches.ts";

const laws = [
  judgeCoverage,
  judgeEffects,
  judgeRevisionOrder,
  judgeLinearizability,
  judgeLists,
  judgeWatches,
  judgeDecisions,
  judgeQuotas,
  judgeAllocations,
  judgeLeaders,
];

/**
 * Returns every violation of a law by a history.
 *
 * The cost is about
 * linear in the operations and frames. Histories of many hours are judged in rounds: each begins with the state in which the
 * previous one ended.
 */
export function judge(history: History): Violation[] {
  const timeline = new Timeline(history);
  return laws.flatMap((law) => law(history, timeline));
}
