import type { ExemptLevel, LimitedLevel, PriorityLevelSpec } from "./objects.ts";

/** Nominal seats of a level, and the limits of lending and borrowing. */
export interface SeatRange {
  readonly nominal: number;
  readonly least: number;
  readonly most: number;
}

/** Seats of a level by its shares, rounded up. */
export function nominalSeats(total: number, shares: number, allShares: number): number {
  return Math.ceil((total * shares) / allShares);
}

/** Shares of a level. */
export function sharesOf({ limited, exempt }: PriorityLevelSpec): number {
  return limited?.nominalConcurrencyShares ?? exempt?.nominalConcurrencyShares ?? 0;
}

/** Seat range of a level. */
export function seatRange(
  total: number,
  allShares: number,
  limits: ExemptLevel & Pick<LimitedLevel, "borrowingLimitPercent">,
): SeatRange {
  const nominal = nominalSeats(total, limits.nominalConcurrencyShares ?? 0, allShares);
  const lendable = Math.round((nominal * (limits.lendablePercent ?? 0)) / 100);
  const percent = limits.borrowingLimitPercent ?? undefined;
  const borrowed = percent === undefined ? total : Math.round((nominal * percent) / 100);
  return { nominal, least: nominal - lendable, most: nominal + borrowed };
}

/** The claim of a level to seats. */
export interface Claim {
  readonly least: number;
  readonly most: number;
  /** Desired seats; at least 1e-9. */
  readonly desired: number;
}

const steps = 100;

/**
 * Distributes seats: each claim gets the same multiple of its desired seats, limited to its minimum and maximum. If the minimums
 * exceed the seats, each gets its minimum; if the seats exceed the maximums, each gets its maximum.
 */
export function giveOut(total: number, claims: readonly Claim[]): number[] {
  const seatsFor = (multiple: number) =>
    claims.map(({ least, most, desired }) => Math.min(most, Math.max(least, multiple * desired)));
  const sum = (multiple: number) => seatsFor(multiple).reduce((all, one) => all + one, 0);
  let low = 0;
  let high = Math.max(1, ...claims.map(({ most, desired }) => most / desired));
  if (sum(low) >= total) return seatsFor(low);
  if (sum(high) <= total) return seatsFor(high);
  for (let step = 0; step < steps; step++) {
    const middle = (low + high) / 2;
    if (sum(middle) < total) low = middle;
    else high = middle;
  }
  return seatsFor(high);
}

/** The claim of a limited level beside exempt ones. */
export interface LimitedClaim extends Claim {
  /** Seats that it doesn't lend; at most `least`. */
  readonly minimum: number;
}

/** Seats that an exempt level has, or that it takes without asking. */
export interface ExemptUse {
  readonly range: Pick<SeatRange, "nominal" | "least">;
  /** Highest recent demand. */
  readonly highest: number;
}

/**
 * Distributes the seats of all levels to the limited ones, as {@link giveOut}. Exempt levels keep their seats that they need or don't
 * lend. If the rest is less than the limited levels need, these get less, down to what they don't lend.
 */
export function giveOutBeside(
  total: number,
  exempt: readonly ExemptUse[],
  claims: readonly LimitedClaim[],
): number[] {
  let taken = 0;
  let reserved = 0;
  for (const { range, highest } of exempt) {
    taken += Math.max(range.least, highest);
    reserved += Math.max(range.least, Math.min(range.nominal, highest));
  }
  const minimum = claims.reduce((sum, one) => sum + one.minimum, 0);
  const needed = claims.reduce((sum, { least }) => sum + least, 0);
  const rest = total - taken;
  if (rest >= needed) return giveOut(total - reserved, claims);
  const part = rest <= minimum ? 0 : (rest - minimum) / (needed - minimum);
  return claims.map((one) => one.minimum + part * (one.least - one.minimum));
}
