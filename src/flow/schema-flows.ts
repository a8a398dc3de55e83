import { RecentMap } from "../base/recent-map.ts";
import { dealHand } from "./shuffle-sharding.ts";

/** Why a request was refused, in the words of the metrics. */
export type RefusalReason = "concurrency-limit" | "queue-full" | "time-out" | "cancelled";

/** Told how long requests waited, in seconds. */
export interface WaitMeter {
  observe(seconds: number): void;
}

/** Where the times are counted that the requests of a schema waited at a level. */
export interface WaitMeters {
  readonly executed: WaitMeter;
  readonly refused: WaitMeter;
}

/** How many flows' hands are remembered for one schema at one level, and how many characters of what tells them apart. */
const rememberedHands = { entries: 256, cost: 64 * 1024 };

/** A hand of queues, with what it was dealt from. */
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
  /** Header lines that tell clients of schema and level. */
  headers: readonly string[] = [];
  /** How requests of the schema are told apart; undefined: they aren't. */
  distinguisher: string | undefined;
  private readonly hands = new RecentMap<Hand>(rememberedHands);

  constructor(
    readonly schemaName: string,
    readonly waits: WaitMeters,
  ) {}

  /** Counts a refusal. */
  refuse(reason: RefusalReason, waitedMs: number): void {
    this.refused.set(reason, (this.refused.get(reason) ?? 0) + 1);
    this.waits.refused.observe(waitedMs / 1000);
  }

  /** The queues of one of the schema's flows (see {@link dealHand}). */
  hand(distinction: string, deckSize: number, handSize: number): readonly number[] {
    const known = this.hands.get(distinction);
    if (known?.deckSize === deckSize && known.handSize === handSize) return known.queues;
    const queues = dealHand(JSON.stringify([this.schemaName, distinction]), deckSize, handSize);
    this.hands.set(distinction, { deckSize, handSize, queues }, distinction.length);
    return queues;
  }
}
