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

const units = [
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
] as const;

/** A length of time as a flag's default is written: in the largest unit of which it is a multiple, such as `5m` or `0s`. */
export function durationText(ms: number): string {
  const [unit, size] = units.find(([, one]) => ms > 0 && ms % one === 0) ?? ["s", 1000];
  return `${ms / size}${unit}`;
}
