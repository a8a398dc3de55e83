import type { UserInfo } from "../base/user-info.ts";
import type { FlowRequest } from "./request.ts";
import type { SchemaFlows } from "./schema-flows.ts";
import type { Width } from "./width.ts";

/** A request that waits for seats. */
export interface Waiting {
  readonly use: SchemaFlows;
  readonly width: Width;
  /** What it is taken to cost, in milliseconds of one seat. */
  readonly workMs: number;
  readonly sinceMs: number;
  readonly request: FlowRequest;
  readonly user: UserInfo;
  /** It has its seats. */
  readonly start: () => void;
  /** It isn't to wait any longer; without effect once it has its seats. */
  readonly leave: (reason: "time-out" | "cancelled") => void;
}

/** One of a level's queues. */
export class FairQueue {
  /** In the order in which they came. */
  readonly waiting = new Set<Waiting>();
  waitingSeats = 0;
  executing = 0;
  executingSeats = 0;
  /** The virtual time at which its next request is to start: how much service its requests have had. */
  nextStart = 0;

  constructor(readonly index: number) {}

  get first(): Waiting {
    return this.waiting.values().next().value!;
  }

  /** How full it looks to a flow that chooses. */
  get load(): number {
    return this.waitingSeats + this.executingSeats;
  }
}
