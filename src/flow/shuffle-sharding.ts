import { createHash } from "node:crypto";

/**
 * Deals a flow its hand of queues: `handSize` different numbers below `deckSize`, the same ones for the same flow. Two
 * flows share few queues, so that a flow which fills its own leaves every other one a free queue, almost surely.
 *
 * @param flow what tells the flow from others.
 */
export function dealHand(flow: string, deckSize: number, handSize: number): number[] {
  let rest = createHash("sha256").update(flow).digest().readBigUInt64BE();
  const hand: number[] = [];
  for (let dealt = 0; dealt < handSize; dealt++) {
    const left = BigInt(deckSize - dealt);
    hand.push(cardAt(Number(rest % left), hand));
    rest /= left;
  }
  return hand;
}

/** The card at a place of the deck from which the hand was taken out. */
function cardAt(place: number, hand: readonly number[]): number {
  let card = place;
  for (const taken of hand.toSorted((a, b) => a - b)) if (taken <= card) card++;
  return card;
}
