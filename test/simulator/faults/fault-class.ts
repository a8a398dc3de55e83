import type { Dice } from "../../support/dice.ts";
import type { World } from "../world.ts";

/** A class of faults. */
export interface FaultClass {
  readonly name: string;
  /** Mean time between the end of a fault and the next one, in milliseconds, if the class is frequent. */
  readonly meanPauseMs: number;
  /** Longest duration in milliseconds. */
  readonly maxMs: number;
  /**
   * Begins a fault.
   *
   * @returns a text about it, and the function that ends it; undefined if the fault isn't possible at present.
   */
  begin(world: World, dice: Dice): { readonly text: string; readonly end: () => void } | undefined;
}
