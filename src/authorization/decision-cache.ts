import type { Clock } from "../base/clock.ts";
import type { Decision } from "./authorizer.ts";

const maxEntries = 8192;
/** Characters of all questions and answers together. */
const maxCharacters = 16 * 1024 * 1024;

interface Kept {
  readonly decision: Decision;
  readonly untilMs: number;
  readonly characters: number;
}

/** Decisions of others, for a time and within bounds; what was asked for longest ago makes room for what comes. */
export class DecisionCache {
  private readonly kept = new Map<string, Kept>();
  private characters = 0;

  constructor(private readonly clock: Clock) {}

  get(question: string): Decision | undefined {
    const known = this.kept.get(question);
    if (known === undefined) return undefined;
    this.forget(question);
    if (known.untilMs <= this.clock.now()) return undefined;
    this.keep(question, known);
    return known.decision;
  }

  /** @param forMs 0 keeps nothing. */
  set(question: string, decision: Decision, forMs: number): void {
    this.forget(question);
    if (forMs <= 0) return;
    const characters = question.length + decision.reason.length + decision.evaluationError.length;
    this.keep(question, { decision, untilMs: this.clock.now() + forMs, characters });
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= maxEntries && this.characters <= maxCharacters) break;
      this.forget(oldest);
    }
  }

  private keep(question: string, kept: Kept): void {
    this.kept.set(question, kept);
    this.characters += kept.characters;
  }

  private forget(question: string): void {
    this.characters -= this.kept.get(question)?.characters ?? 0;
    this.kept.delete(question);
  }
}
