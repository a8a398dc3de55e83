import type { Rule } from "./policy.ts";

/**
 * What the tables of an index may cost. They hold combinations: one verb with one resource, or name of one, of one group,
 * or one verb with one URL. What decisions say doesn't depend on the limits, only how long they take.
 */
export interface TableLimits {
  /** A rule with more combinations than this is compared linearly instead of being added to a table. */
  readonly perRule: number;
  /** Combinations that are spread in one turn of the event loop. */
  readonly perTurn: number;
  /** Combinations that all tables of the index may hold beyond as many as their rules have entries. */
  readonly total: number;
}

/** In about 2 ms a turn spreads what it may; beyond memory in proportion to the rules, all tables take some 200 MB. */
export const tableLimits: TableLimits = { perRule: 4096, perTurn: 8192, total: 1_000_000 };

/** How much more may be spread over the tables of one index. */
export class TableBudget {
  private left: number;

  constructor(readonly limits: TableLimits) {
    this.left = limits.total;
  }

  /** Takes what a rule costs; false when that is more than there is. */
  take(rule: Rule): boolean {
    const cost = costOf(rule);
    if (combinationsOf(rule) > this.limits.perRule || cost > this.left) return false;
    this.left -= cost;
    return true;
  }

  /** Gives back what {@link TableBudget.take} took for the same rule. */
  giveBack(rule: Rule): void {
    this.left += costOf(rule);
  }

  /** What the tables cost now. */
  get used(): number {
    return this.limits.total - this.left;
  }
}

/** One turn's work on a question. */
export interface Turn {
  /** Combinations that may still be spread. */
  left: number;
  /** Set where rules that may matter wait for a further turn. */
  unfinished: boolean;
}

/** How many combinations a rule is spread into. */
export function combinationsOf({
  verbs,
  apiGroups,
  resources,
  resourceNames,
  nonResourceURLs,
}: Rule): number {
  const named = apiGroups.length * resources.length * Math.max(1, resourceNames.length);
  return verbs.length * (named + nonResourceURLs.length);
}

/** Combinations beyond as many as the rule has entries: those take no more memory than the rule itself. */
function costOf(rule: Rule): number {
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
  const entries =
    verbs.length + apiGroups.length + resources.length + resourceNames.length + nonResourceURLs.length;
  return Math.max(0, combinationsOf(rule) - entries);
}
