import type { Meter } from "./meter.ts";
import type { Value } from "./values.ts";

/** One evaluation while it runs. */
export interface Evaluation {
  readonly meter: Meter;
  /** The values of the variables and, behind them, those of the loops. */
  readonly slots: Value[];
}

/** Evaluates one part of an expression. */
export type Step = (evaluation: Evaluation) => Value;
