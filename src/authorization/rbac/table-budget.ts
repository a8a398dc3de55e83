import type { Rule } from "./policy.ts";

/**
 * Limits of the lookup tables of an index. Tables contain combinations: one verb with one resource of one group and at most
 * one name, or one verb with one URL. The limits affect the duration of a decision, not its result.
 */
export interface TableLimits {
  /** A rule with more combinations than this is compared linearly instead of being added to a table. */
  readonly perRule: number;
  /** Combinations that are inserted in one iteration of the event loop. */
  readonly perTurn: number;
  /** Limit for all tables of the index together. Counts only combinations beyond the number of entries of their rules. */
  readonly total: number;
}

/** `perTurn` takes about 2 ms; `total` takes about 200 MB. */
export const tableLimits: TableLimits = { perRule: 4096, perTurn: 8192, total: 1_000_000 };

/** The remaining capacity of the tables of one index. */
export class TableBudget {
  private remaining: number;

  constructor(readonly limits: TableLimits) {
    this.remaining = limits.total;
  }

  /** Reserves the cost of a rule; returns false if a limit would be exceeded. */
  reserve(rule: Rule): boolean {
    const cost = costOf(rule);
    if (combinationsOf(rule) > this.limits.perRule || cost > this.remaining) return false;
    this.remaining -= cost;
    return true;
  }

  /** Releases the cost that {@link TableBudget.reserve} reserved for the rule. */
  release(rule: Rule): void {
    this.remaining += costOf(rule);
  }

  /** The reserved capacity. */
  get used(): number {
    return this.limits.total - this.remaining;
  }
}

/** The work for one request in one iteration of the event loop. */
export interface Turn {
  /** Combinations that may still be inserted. */
  remaining: number;
  /** Set if relevant rules must be inserted in a later iteration. */
  unfinished: boolean;
}

/** Returns the number of combinations of a rule. */
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

/** Combinations beyond the number of the rule's entries; up to that number they take no more memory than the rule itself. */
function costOf(rule: Rule): number {
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
  const entries =
    verbs.length + apiGroups.length + resources.length + resourceNames.length + nonResourceURLs.length;
  return Math.max(0, combinationsOf(rule) - entries);
}
