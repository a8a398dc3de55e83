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

/** Lower and upper bound of a number. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** The maximum of a number without limit; larger numbers are capped to it. */
export const unlimited = 2 ** 64;

export const zero: Range = { min: 0, max: 0 };
export const anything: Range = { min: 0, max: unlimited };

export function fixed(value: number): Range {
  return { min: value, max: value };
}

export function plus(one: Range, other: Range): Range {
  return { min: bounded(one.min + other.min), max: bounded(one.max + other.max) };
}

export function times(one: Range, other: Range): Range {
  return { min: bounded(one.min * other.min), max: bounded(one.max * other.max) };
}

/** Multiplies a range by a factor; rounds up. */
export function scaled({ min, max }: Range, factor: number): Range {
  return { min: bounded(Math.ceil(min * factor)), max: bounded(Math.ceil(max * factor)) };
}

/** Returns the smallest range that includes both. */
export function either(one: Range, other: Range): Range {
  return { min: Math.min(one.min, other.min), max: Math.max(one.max, other.max) };
}

function bounded(value: number): number {
  return Math.min(value, unlimited);
}
