import type { Clock } from "../base/clock.ts";
import { RecentMap } from "../base/recent-map.ts";
import type { Decision } from "./authorizer.ts";

/** The cost is in characters of all questions and answers together. */
const limits = { entries: 8192, cost: 16 * 1024 * 1024 };

interface Kept {
  readonly decision: Decision;
  readonly untilMs: number;
}

/** Decisions of others, for a time and within bounds; what was asked for longest ago makes room for what comes. */
export class DecisionCache {
  private readonly kept = new RecentMap<Kept>(limits);

  constructor(private readonly clock: Clock) {}

  get(question: string): Decision | undefined {
    const known = this.kept.get(question);
    if (known === undefined) return undefined;
    if (this.clock.monotonicNow() < known.untilMs) return known.decision;
    this.kept.delete(question);
    return undefined;
  }

  /** @param forMs 0 keeps nothing. */
  set(question: string, decision: Decision, forMs: number): void {
    if (forMs <= 0) return this.kept.delete(question);
    const characters = question.length + decision.reason.length + decision.evaluationError.length;
    this.kept.set(question, { decision, untilMs: this.clock.monotonicNow() + forMs }, characters);
  }
}
