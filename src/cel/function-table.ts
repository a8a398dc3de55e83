import type { Meter } from "./meter.ts";
import { signature, type Signature } from "./signature.ts";
import type { CelType } from "./types.ts";
import type { Value } from "./values.ts";

/** What a call costs by the sizes of its first two arguments (see `sizeOf`), in the reference's units. */
export type CostRule = (first: number, second: number) => number;

/** A function of the language or one of its libraries. */
export interface CelFunction {
  readonly signatures: readonly Signature[];
  /** 1 unless said. Spent before the function is called. */
  readonly cost?: CostRule;
  /** Spends what the call costs where that depends on more than sizes. */
  readonly charge?: (args: readonly Value[], meter: Meter) => void;
  /** Called with values of any types; none of them is a fault. The target of a call on a value is the first. */
  readonly run: Run;
  /** What is done once, when the expression is compiled, about an argument that is a literal text. */
  readonly literal?: LiteralRule;
}

/** @param gives the type of the result as it was found when the expression was checked. */
export type Run = (args: readonly Value[], meter: Meter, gives: CelType) => Value;

export interface LiteralRule {
  /** Which argument. */
  readonly index: number;
  /** Says what is wrong with it. */
  readonly check: (text: string) => string | undefined;
  /** What is run instead, where that is faster. */
  readonly runWith?: (text: string) => Run;
}

export type FunctionTable = ReadonlyMap<string, CelFunction>;

/** Makes a function of its signatures (see {@link signature}), which are read when first asked for, and what it does. */
export function declared(
  signatures: readonly string[],
  run: Run,
  more: Omit<CelFunction, "signatures" | "run"> = {},
): CelFunction {
  let read: readonly Signature[] | undefined;
  return {
    ...more,
    run,
    get signatures() {
      return (read ??= signatures.map(signature));
    },
  };
}

/** A tenth of a unit for each character, as the reference rates going through a text. */
export const traversal = (size: number): number => Math.ceil(size * 0.1);

/** What it costs to match a text with a regular expression, by their lengths. */
export const matching: CostRule = (text, pattern) => Math.ceil((1 + text) * 0.1) * Math.ceil(pattern * 0.25);
