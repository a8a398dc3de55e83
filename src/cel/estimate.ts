import type { FunctionTable } from "./function-table.ts";
import type { Expression } from "./syntax.ts";

/** What an evaluation costs, in the units of the reference. */
export interface CostEstimate {
  readonly min: number;
  /** Infinity where it depends on the size of something that nothing limits. */
  readonly max: number;
}

/** placeholder */
export function estimate(_expression: Expression, _functions: FunctionTable): CostEstimate {
  return { min: 0, max: Infinity };
}
