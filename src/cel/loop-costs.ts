import type { Macro } from "./syntax.ts";

/**
 * What the loop of a macro costs beside its parts. In the reference a macro is a fold: before each item a condition is evaluated,
 * at each item a step, and after the last one the accumulator is read.
 */
export interface LoopCost {
  /** At each item: the condition, and reading the accumulator. */
  readonly each: number;
  /** At each item that is counted or taken: a list of one item, and its joining to the others. */
  readonly taken: number;
  readonly end: number;
}

export const loopCosts: Readonly<Record<Macro, LoopCost>> = {
  all: { each: 3, taken: 0, end: 1 },
  exists: { each: 4, taken: 0, end: 1 },
  exists_one: { each: 0, taken: 2, end: 2 },
  map: { each: 0, taken: 12, end: 1 },
  filter: { each: 0, taken: 13, end: 1 },
};
