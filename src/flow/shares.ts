import type { LimitedLevel } from "./objects.ts";

/** The seats of a level: at first, and between which numbers the limit may move by lending and borrowing. */
export interface SeatRange {
  readonly nominal: number;
  readonly least: number;
  readonly most: number;
}

/** The part of all seats that a level's shares give it; every part is rounded up. */
export function nominalSeats(total: number, shares: number, allShares: number): number {
  return Math.ceil((total * shares) / allShares);
}

/** What a limited level may have of all seats, with what it lends and borrows. */
export function seatRange(total: number, allShares: number, limited: LimitedLevel): SeatRange {
  const nominal = nominalSeats(total, limited.nominalConcurrencyShares, allShares);
  const lendable = Math.round((nominal * (limited.lendablePercent ?? 0)) / 100);
  const percent = limited.borrowingLimitPercent ?? undefined;
  const borrowed = percent === undefined ? total : Math.round((nominal * percent) / 100);
  return { nominal, least: nominal - lendable, most: nominal + borrowed };
}

/** A level that takes part when seats are given out. */
export interface Claim {
  readonly least: number;
  readonly most: number;
  /** How many it would like to have; at least 1e-9. */
  readonly wanted: number;
}

const steps = 100;

/**
 * Gives out a number of seats: each claim gets the same multiple of what it wants, but not less than its least and not more
 * than its most. Where the least alone come to more than there is, each gets its least; where the most come to less, its
 * most.
 */
export function giveOut(total: number, claims: readonly Claim[]): number[] {
  const given = (multiple: number) =>
    claims.map(({ least, most, wanted }) => Math.min(most, Math.max(least, multiple * wanted)));
  const sum = (multiple: number) => given(multiple).reduce((all, one) => all + one, 0);
  let low = 0;
  let high = Math.max(1, ...claims.map(({ most, wanted }) => most / wanted));
  if (sum(low) >= total) return given(low);
  if (sum(high) <= total) return given(high);
  for (let step = 0; step < steps; step++) {
    const middle = (low + high) / 2;
    if (sum(middle) < total) low = middle;
    else high = middle;
  }
  return given(high);
}
