import { createHash } from "node:crypto";

/**
 * Returns the queues of a flow: `handSize` different numbers below `deckSize`, always the same for a flow. Two flows share few queues,
 * so that a flow that fills its queues almost certainly leaves each other flow a free one.
 *
 * @param flow identifies the flow.
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

/** The card at an index of the deck without the cards of the hand. */
function cardAt(place: number, hand: readonly number[]): number {
  let card = place;
  for (const used of hand.toSorted((a, b) => a - b)) if (used <= card) card++;
  return card;
}
