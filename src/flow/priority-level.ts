import type { Clock, Timer } from "../base/time/clock.ts";
import type { MaybePromise } from "../base/turns/maybe-promise.ts";
import type { UserInfo } from "../base/user-info.ts";
import { Demand } from "./demand.ts";
import type { Queuing } from "./objects.ts";
import { type FlowRequest, type WaitingClient, tooManyRequests, type Ticket } from "./request.ts";
import type { SchemaFlows } from "./schema-flows.ts";
import { narrowed, type Width } from "./matching.ts";

/** Estimated work of a request until it is complete, in milliseconds of one seat. */
const guessedMs = 3;
/** Least work of a request, so that flows of very short requests take turns too. */
const leastMs = 1;

/** Ticket of requests at an exempt level. */
const unlimited: Width = { seats: 0, finalSeats: 0, finalMs: 0 };

/** A request that enters a level. */
export interface Entrant {
  readonly use: SchemaFlows;
  readonly width: Width;
  readonly request: FlowRequest;
  readonly user: UserInfo;
  readonly client: WaitingClient;
}

/** Limits of a level. */
export interface LevelLimits {
  readonly seats: number;
  /** Undefined: requests above the limit are rejected. */
  readonly queuing: Queuing | undefined;
}

/**
 * The seats of one priority level and the requests that wait for them. The queue with the least service is next (start-time fair
 * queuing: the virtual time of a queue advances with the seats and the time of its requests; a queue that becomes active starts at the
 * virtual time of the level).
 */
export class PriorityLevel {
  readonly demand: Demand;
  /** Recently used queues, by number. */
  readonly queues = new Map<number, FairQueue>();
  private readonly busy = new Set<FairQueue>();
  uid = "";
  /** Whether requests of an exempt level count as seats in use, which others may not borrow. */
  countsSeats = false;
  executing = 0;
  seatsInUse = 0;
  waiting = 0;
  private waitingSeats = 0;
  private virtualMs = 0;
  private limits: LevelLimits = { seats: 1, queuing: undefined };
  /** One timer for all waiting requests, as most are admitted long before the time-out. */
  private timer: Timer | undefined;

  /** @param exempt whether the level has no limit. */
  constructor(
    readonly name: string,
    private readonly clock: Clock,
    private readonly waitMs: number,
    public exempt = false,
  ) {
    this.demand = new Demand(clock.monotonicNow());
  }

  /** Current number of seats. */
  get seats(): number {
    return this.limits.seats;
  }

  get queuesInUse(): number {
    return this.busy.size;
  }

  /** Changes the limits, to at least one seat; waiting requests stay in their queues. */
  limit({ seats, queuing }: LevelLimits): void {
    this.limits = { seats: Math.max(1, seats), queuing };
    this.dispatch();
  }

  /**
   * Admits a request: at once if there are seats, otherwise in its turn.
   *
   * @throws {StatusError} TooManyRequests if the queue is full, the wait timed out or the client disconnected.
   */
  enter(entrant: Entrant): MaybePromise<Ticket> {
    const { use } = entrant;
    if (this.exempt) return this.begin(use, this.countsSeats ? entrant.width : unlimited, undefined);
    const width = narrowed(entrant.width, this.limits.seats);
    if (this.waiting === 0 && this.fits(width.seats)) return this.begin(use, width, undefined);
    const { queuing } = this.limits;
    if (queuing === undefined) {
      use.refuse("concurrency-limit", 0);
      throw tooManyRequests();
    }
    const queue = this.choose(entrant, queuing);
    if (queue.waiting.size >= queuing.queueLengthLimit) {
      use.refuse("queue-full", 0);
      throw tooManyRequests();
    }
    return new Promise((resolve, reject) => this.wait(entrant, width, queue, resolve, reject));
  }

  /**
   * Completes a request. Work that follows the response starts at once, even if that exceeds the seats; other requests wait until
   * there are free seats.
   */
  finish(ticket: SeatTicket): void {
    const { use, width, queue, startMs } = ticket;
    use.executing--;
    this.executing--;
    if (width === unlimited) return;
    const now = this.clock.monotonicNow();
    if (queue !== undefined) {
      queue.executing--;
      queue.nextStart += width.seats * (Math.max(leastMs, now - startMs) - guessedMs);
    }
    this.take(ticket, width.finalSeats - width.seats, now);
    if (width.finalSeats === 0) return;
    this.clock.setTimer(() => this.take(ticket, -width.finalSeats, this.clock.monotonicNow()), width.finalMs);
  }

  /** Adds seats to an admitted request, or removes some (negative). */
  private take({ use, queue }: SeatTicket, seats: number, now: number): void {
    use.seats += seats;
    this.seatsInUse += seats;
    this.demand.set(now, this.seatsInUse + this.waitingSeats);
    if (queue !== undefined) queue.executingSeats += seats;
    if (seats >= 0) return;
    if (this.waiting > 0) this.dispatch();
    else if (this.seatsInUse === 0) this.rest();
  }

  /** Whether requests wait for seats or, without queues, would be rejected. */
  get contended(): boolean {
    return this.waiting > 0 || (!this.exempt && this.limits.queuing === undefined && !this.fits(1));
  }

  private fits(seats: number): boolean {
    return this.seatsInUse + seats <= this.limits.seats;
  }

  private begin(use: SchemaFlows, width: Width, queue: FairQueue | undefined): SeatTicket {
    const { seats } = width;
    use.dispatched++;
    use.executing++;
    use.seats += seats;
    this.executing++;
    this.seatsInUse += seats;
    const now = seats === 0 ? 0 : this.clock.monotonicNow();
    if (seats > 0) this.demand.set(now, this.seatsInUse + this.waitingSeats);
    if (queue === undefined) use.waits.executed.observe(0);
    return new SeatTicket(this, use, width, queue, now);
  }

  /** The flow's queue with the smallest load. */
  private choose({ use, request, user }: Entrant, { queues, handSize }: Queuing): FairQueue {
    const distinction = distinctionOf(use.distinguisher, request, user);
    let best = -1;
    let least = Infinity;
    for (const index of use.hand(distinction, queues, handSize)) {
      const load = this.queues.get(index)?.load ?? 0;
      if (load >= least) continue;
      best = index;
      least = load;
    }
    let queue = this.queues.get(best);
    if (queue === undefined) this.queues.set(best, (queue = new FairQueue(best)));
    return queue;
  }

  private wait(
    { use, request, user, client }: Entrant,
    width: Width,
    queue: FairQueue,
    resolve: (ticket: Ticket) => void,
    reject: (error: Error) => void,
  ): void {
    const sinceMs = this.clock.monotonicNow();
    const leave = (reason: "time-out" | "cancelled") => {
      if (!queue.waiting.has(waiting)) return;
      this.remove(queue, waiting);
      use.refuse(reason, this.clock.monotonicNow() - sinceMs);
      reject(tooManyRequests());
      // A request behind it may need fewer seats.
      this.dispatch();
    };
    const start = () => {
      use.waits.executed.observe((this.clock.monotonicNow() - sinceMs) / 1000);
      resolve(this.begin(use, width, queue));
    };
    const workMs = guessedWork(width);
    const waiting: Waiting = { use, width, workMs, sinceMs, request, user, start, leave };
    this.add(queue, waiting);
    this.timer ??= this.clock.setTimer(() => this.endWaits(), this.waitMs);
    client.onClose(() => leave("cancelled"));
  }

  /** Rejects requests whose wait timed out, and sets the timer for the next time-out. */
  private endWaits(): void {
    this.timer = undefined;
    const now = this.clock.monotonicNow();
    const over: Waiting[] = [];
    let nextMs = Number.POSITIVE_INFINITY;
    for (const { waiting } of this.busy) {
      for (const one of waiting) {
        // Later arrivals time out later.
        if (now - one.sinceMs < this.waitMs) {
          nextMs = Math.min(nextMs, one.sinceMs + this.waitMs);
          break;
        }
        over.push(one);
      }
    }
    if (nextMs !== Number.POSITIVE_INFINITY) {
      this.timer = this.clock.setTimer(() => this.endWaits(), nextMs - now);
    }
    for (const one of over) one.leave("time-out");
  }

  private add(queue: FairQueue, waiting: Waiting): void {
    if (queue.waiting.size === 0) {
      queue.nextStart = Math.max(queue.nextStart, this.virtualMs);
      this.busy.add(queue);
    }
    queue.waiting.add(waiting);
    queue.waitingSeats += waiting.width.seats;
    waiting.use.waiting++;
    this.waiting++;
    this.waitingSeats += waiting.width.seats;
    this.demand.set(waiting.sinceMs, this.seatsInUse + this.waitingSeats);
    // It may fit while another request waits for more seats.
    this.dispatch();
  }

  private remove(queue: FairQueue, waiting: Waiting): void {
    queue.waiting.delete(waiting);
    queue.waitingSeats -= waiting.width.seats;
    waiting.use.waiting--;
    this.waiting--;
    this.waitingSeats -= waiting.width.seats;
    if (queue.waiting.size === 0) this.busy.delete(queue);
    if (this.waiting > 0) return;
    this.timer?.cancel();
    this.timer = undefined;
  }

  /** Starts waiting requests while the next one fits. */
  private dispatch(): void {
    while (this.busy.size > 0) {
      const queue = this.nextQueue();
      const waiting = queue.first;
      // It needs more seats than the level has since their number was reduced: it runs alone.
      if (!this.fits(waiting.width.seats) && this.seatsInUse > 0) return;
      this.remove(queue, waiting);
      this.virtualMs = Math.max(this.virtualMs, queue.nextStart);
      queue.nextStart += waiting.workMs;
      queue.executing++;
      queue.executingSeats += waiting.width.seats;
      if (queue.waiting.size > 0) {
        // Between equal queues, the longest wait wins.
        this.busy.delete(queue);
        this.busy.add(queue);
      }
      waiting.start();
    }
  }

  private nextQueue(): FairQueue {
    let next: FairQueue | undefined;
    for (const queue of this.busy) if (next === undefined || queue.nextStart < next.nextStart) next = queue;
    return next!;
  }

  /** Resets the queues of an idle level. */
  private rest(): void {
    if (this.queues.size === 0) return;
    this.queues.clear();
    this.virtualMs = 0;
  }
}

/** The flow distinguisher of a request. */
function distinctionOf(distinguisher: string | undefined, request: FlowRequest, user: UserInfo): string {
  if (distinguisher === "ByUser") return user.name;
  return distinguisher === "ByNamespace" && request.kind === "resource" ? request.namespace : "";
}

/** Estimated work of a request before it starts, in milliseconds of one seat. */
function guessedWork({ seats, finalSeats, finalMs }: Width): number {
  return seats * guessedMs + finalSeats * finalMs;
}

/** The seats of one request. */
class SeatTicket implements Ticket {
  constructor(
    private readonly level: PriorityLevel,
    readonly use: SchemaFlows,
    readonly width: Width,
    /** The queue in which it waited, if it did. */
    readonly queue: FairQueue | undefined,
    readonly startMs: number,
  ) {}

  get contended(): boolean {
    return this.level.contended;
  }

  release(): void {
    this.level.finish(this);
  }
}

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
class FairQueue {
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
