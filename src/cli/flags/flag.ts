import type { FlagType } from "../../server/options/value-type.ts";

/** One flag of a command. */
export interface Flag {
  readonly name: string;
  /** A letter for the short form, such as `f` for `-f`. */
  readonly short?: string;
  readonly type: FlagType;
  /** Shown in the help text; empty if there is none. */
  readonly default: string;
  readonly doc: string;
}
