/** What a flag's value is. */
export type FlagType = "string" | "integer" | "number" | "boolean" | "duration" | "list" | "file";

/** One flag of a command. */
export interface Flag {
  readonly name: string;
  /** A letter that stands for the name after a single dash. */
  readonly short?: string;
  readonly type: FlagType;
  /** Shown in help; an empty text means that there is none. */
  readonly default: string;
  readonly doc: string;
}

/** A flag without a short form. */
export function flag(name: string, type: FlagType, byDefault: string, doc: string): Flag {
  return { name, type, default: byDefault, doc };
}
