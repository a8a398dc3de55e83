import type { History, LeaderTerm, Violation } from "../history.ts";

/** Terms of different holders of a lease don't overlap. n log n in the terms. */
export function judgeLeaders({ terms }: History): Violation[] {
  const violations: Violation[] = [];
  const current = new Map<string, LeaderTerm>();
  for (const term of terms.toSorted((a, b) => a.beginNs - b.beginNs)) {
    const before = current.get(term.lease);
    if (before !== undefined && before.holder !== term.holder && before.endNs > term.beginNs) {
      const message = `${describeTerm(term)} and ${describeTerm(before)} both act as the leader of ${term.lease}`;
      violations.push({ law: "leaders", message });
    }
    if (before === undefined || term.endNs > before.endNs) current.set(term.lease, term);
  }
  return violations;
}

function describeTerm({ holder, beginNs, endNs }: LeaderTerm): string {
  return `${holder} (${(beginNs / 1e6).toFixed(3)}–${(endNs / 1e6).toFixed(3)} ms)`;
}
