import type { Range } from "./ranges.ts";
import type { Signature } from "../types/signature.ts";
import type { CelType } from "../types/types.ts";

/** The estimated size and the type of an argument. The receiver of a call is the first argument. */
export interface ArgumentEstimate {
  readonly size: Range;
  /** Size of the items of a list. */
  readonly itemSize: Range;
  readonly type: CelType;
  /** Value of a literal integer. */
  readonly integer: bigint | undefined;
}

/** Estimated cost of a call without its arguments, and size of the result; undefined if unknown. */
export interface CallEstimate {
  readonly cost: Range;
  readonly size?: Range;
}

/** Estimates a call of one overload. */
export type Rule = (args: readonly ArgumentEstimate[], form: Signature) => CallEstimate;
