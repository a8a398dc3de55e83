import type { UserInfo } from "../base/user-info.ts";
import type { FlowRequest } from "./request.ts";
import type { SchemaFlows } from "./schema-flows.ts";
import type { Width } from "./width.ts";

/** A request that waits for seats. */
export interface Waiting {
  readonly use: SchemaFlows;
  readonly width: Width;
  /** Estimated work, in milliseconds of one seat. */
  readonly workMs: number;
  readonly sinceMs: number;
  readonly request: FlowRequest;
  readonly user: UserInfo;
  /** Starts the request: it has its seats. */
  readonly start: () => void;
  /** Ends the wait; no effect after `start`. */
  readonly leave: (reason: "time-out" | "cancelled") => void;
}

/** One of a level's queues. */
export class FairQueue {
  /** In order of arrival. */
  readonly waiting = new Set<Waiting>();
  waitingSeats = 0;
  executing = 0;
  executingSeats = 0;
  /** Virtual start time of its next request, which is the service that its requests have received. */
  nextStart = 0;

  constructor(readonly index: number) {}

  get first(): Waiting {
    return this.waiting.values().next().value!;
  }

  /** Seats that are in use or waited for; a new request joins the queue with the smallest load. */
  get load(): number {
    return this.waitingSeats + this.executingSeats;
  }
}
