import type { Trace } from "../trace.ts";

/** A law that didn't hold. */
export interface Violation {
  readonly seed: number;
  /** Virtual time in milliseconds since the start. */
  readonly atMs: number;
  readonly law: string;
  readonly text: string;
}

/** Violations kept of one simulation; the first ones explain the others. */
const maxViolations = 20;

/** The violations of one simulation. */
export class Violations {
  readonly list: Violation[] = [];

  constructor(
    private readonly seed: number,
    private readonly nowMs: () => number,
    private readonly trace: Trace,
  ) {}

  add(law: string, text: string): void {
    this.trace.add("law", law, text);
    if (this.list.length < maxViolations) this.list.push({ seed: this.seed, atMs: this.nowMs(), law, text });
  }
}
