/** A number that isn't known exactly. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** Where nothing limits a number, and what larger ones count as. */
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

/** A range multiplied by a factor; rounded up. */
export function scaled({ min, max }: Range, factor: number): Range {
  return { min: bounded(Math.ceil(min * factor)), max: bounded(Math.ceil(max * factor)) };
}

/** The least range that both are in. */
export function either(one: Range, other: Range): Range {
  return { min: Math.min(one.min, other.min), max: Math.max(one.max, other.max) };
}

function bounded(value: number): number {
  return Math.min(value, unlimited);
}
