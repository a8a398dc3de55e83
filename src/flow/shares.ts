import type { LimitedLevel } from "./objects.ts";

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

/** Seat range of a limited level. */
export function seatRange(total: number, allShares: number, limited: LimitedLevel): SeatRange {
  const nominal = nominalSeats(total, limited.nominalConcurrencyShares, allShares);
  const lendable = Math.round((nominal * (limited.lendablePercent ?? 0)) / 100);
  const percent = limited.borrowingLimitPercent ?? undefined;
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
