import type { Macro } from "../syntax/syntax.ts";

/**
 * Cost of the loop of a macro besides its parts. In cel-go a macro is a fold: a loop condition is evaluated before each item, a step
 * for each item, and the accumulator is read after the last one.
 */
export interface LoopCost {
  /** Per item: the loop condition, and reading the accumulator. */
  readonly each: number;
  /** Per accepted item: a list of one item, and its concatenation with the others. */
  readonly accepted: number;
  readonly end: number;
}

export const loopCosts: Readonly<Record<Macro, LoopCost>> = {
  all: { each: 3, accepted: 0, end: 1 },
  exists: { each: 4, accepted: 0, end: 1 },
  exists_one: { each: 0, accepted: 2, end: 2 },
  map: { each: 0, accepted: 12, end: 1 },
  filter: { each: 0, accepted: 13, end: 1 },
  transformMap: { each: 0, accepted: 3, end: 1 },
  transformMapEntry: { each: 0, accepted: 2, end: 1 },
  sortBy: { each: 0, accepted: 12, end: 1 },
};
