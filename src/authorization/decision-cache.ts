import type { Clock } from "../base/time/clock.ts";
import { RecentMap } from "../base/collections/recent-map.ts";
import type { Decision } from "./authorizer.ts";

/** The cost is the number of characters of keys and decisions. */
const limits = { entries: 8192, cost: 16 * 1024 * 1024 };

interface CachedDecision {
  readonly decision: Decision;
  readonly expiresAtMs: number;
}

/** A size-limited cache of decisions with expiry; evicts the least recently used. */
export class DecisionCache {
  private readonly decisions = new RecentMap<CachedDecision>(limits);

  constructor(private readonly clock: Clock) {}

  get(key: string): Decision | undefined {
    const cached = this.decisions.get(key);
    if (cached === undefined) return undefined;
    if (this.clock.monotonicNow() < cached.expiresAtMs) return cached.decision;
    this.decisions.delete(key);
    return undefined;
  }

  /** @param ttlMs 0 removes the entry. */
  set(key: string, decision: Decision, ttlMs: number): void {
    if (ttlMs <= 0) return this.decisions.delete(key);
    const characters = key.length + decision.reason.length + decision.evaluationError.length;
    this.decisions.set(key, { decision, expiresAtMs: this.clock.monotonicNow() + ttlMs }, characters);
  }
}
