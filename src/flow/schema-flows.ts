import { RecentMap } from "../base/collections/recent-map.ts";
import { createHash } from "node:crypto";

/** Reason of a rejection, as in the metrics. */
export type RefusalReason = "concurrency-limit" | "queue-full" | "time-out" | "cancelled";

/** Receives wait times in seconds. */
export interface WaitMeter {
  observe(seconds: number): void;
}

/** Wait-time metrics of one schema at one level. */
export interface WaitMeters {
  readonly executed: WaitMeter;
  readonly refused: WaitMeter;
}

/** Cached hands for one schema at one level, and the longest distinguisher that is cached, in characters. */
const rememberedHands = { entries: 256, cost: 64 * 1024 };

/** The queues of a flow, with the settings from which they were computed. */
interface Hand {
  readonly deckSize: number;
  readonly handSize: number;
  readonly queues: readonly number[];
}

/** The requests of one flow schema at one priority level: their queues, and counters of them. */
export class SchemaFlows {
  dispatched = 0;
  readonly refused = new Map<RefusalReason, number>();
  executing = 0;
  seats = 0;
  waiting = 0;
  /** Response header lines with the uids of schema and level. */
  headers: readonly string[] = [];
  /** Flow distinguisher of the schema; undefined: all its requests are one flow. */
  distinguisher: string | undefined;
  private readonly hands = new RecentMap<Hand>(rememberedHands);

  constructor(
    readonly schemaName: string,
    readonly waits: WaitMeters,
  ) {}

  /** Counts a rejection. */
  refuse(reason: RefusalReason, waitedMs: number): void {
    this.refused.set(reason, (this.refused.get(reason) ?? 0) + 1);
    this.waits.refused.observe(waitedMs / 1000);
  }

  /** The queue numbers of a flow (see {@link dealHand}). */
  hand(distinction: string, deckSize: number, handSize: number): readonly number[] {
    const cached = this.hands.get(distinction);
    if (cached?.deckSize === deckSize && cached.handSize === handSize) return cached.queues;
    const queues = dealHand(JSON.stringify([this.schemaName, distinction]), deckSize, handSize);
    this.hands.set(distinction, { deckSize, handSize, queues }, distinction.length);
    return queues;
  }
}

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
