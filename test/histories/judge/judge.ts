import type { History, Violation } from "../history.ts";
import { judgeAllocations } from "./allocations.ts";
import { judgeCoverage } from "./coverage.ts";
import { judgeDecisions } from "./decisions.ts";
import { judgeEffects } from "./effects.ts";
import { judgeLeaders } from "./leaders.ts";
import { judgeLinearizability } from "./linearizability.ts";
import { judgeLists } from "./lists.ts";
import { partsOf, type Part } from "./parts.ts";
import { judgeQuotas } from "./quotas.ts";
import { judgeRevisionOrder } from "./revision-order.ts";
import { judgeTransactions } from "./transactions.ts";
import { judgeWatches } from "./watches.ts";
import { judgeWorkspaces } from "./workspaces.ts";

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
 * Each workspace is judged by itself, and a branch as a history that begins with the state of its base; further laws hold between
 * workspaces. If the watches of a workspace don't cover all its writes, a violation of `coverage` says so, and the laws that need this aren't
 * judged in it and its branches. The cost is about linear in the operations and frames. Histories of many hours are judged in rounds: each
 * begins with the state in which the previous one ended.
 */
export function judge(history: History): Violation[] {
  const parts = partsOf(history);
  const uncovered = new Set<Part | undefined>();
  const violations = parts.flatMap((part) => {
    const { workspace, base, history: recorded, timeline } = part;
    const missing = judgeCoverage(recorded, timeline);
    if (missing.length > 0 || (base !== undefined && uncovered.has(base))) uncovered.add(part);
    const laws = uncovered.has(part) ? independentLaws : [...independentLaws, ...coveredLaws];
    const own = [...missing, ...laws.flatMap((law) => law(recorded, timeline))];
    if (workspace === undefined) return own;
    return own.map(({ law, message }) => ({ law, message: `in workspace ${workspace}: ${message}` }));
  });
  return [...violations, ...judgeWorkspaces(parts)];
}
