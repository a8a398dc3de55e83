import { eventBytes } from "./entry.ts";
import type { Deferral, Revision, StoreEvent } from "./store.ts";

/** A subscription whose deliveries may be deferred. */
export interface Receiver {
  /** Every event up to here has been delivered to it. */
  readonly deliveredUpTo: Revision;
  deliver(batch: readonly StoreEvent[], upTo: Revision): void;
}

interface Batch {
  readonly events: readonly StoreEvent[];
  readonly upTo: Revision;
  readonly bytes: number;
}

/**
 * Cost of the deliveries between two turns of the event loop, in bytes of events: about a millisecond of writing to TLS connections.
 * Not a time, so that a simulated run can be repeated.
 */
const sliceBytes = 384 * 1024;
/** Maximum number of bytes of joined batches: a subscription that gets more needs several visits. */
const joinedBytes = 64 * 1024;
/** Cost of a delivery beside the bytes of its events. */
const deliveryBytes = 3 * 1024;
/**
 * Maximum number of bytes of the undelivered events of a group. Above it events are delivered without other work in between, so that
 * writers are not faster than the deliveries for long.
 */
const maxPendingBytes = 32 * 1024 * 1024;
/** Cost of looking at a receiver that needs nothing, or at a batch. */
const lookBytes = 64;

/**
 * Delivers events to many subscriptions with the same prefix in slices, between which other work runs. A subscription that is visited
 * receives the events since its last visit as one batch, so more events per second make larger batches, not more deliveries.
 */
export class DeferredDeliveries {
  /** The groups with undelivered events, in the order of their turns. */
  private readonly pending = new Set<DeferredGroup>();
  private sliceIsComing = false;
  private inSlice = false;

  /** @param later calls a task after other work of the event loop. */
  constructor(private readonly later: (task: () => void) => void = (task) => void setImmediate(task)) {}

  /** Adds a batch for all members of a group; {@link begin} must follow. */
  add(group: DeferredGroup, events: readonly StoreEvent[], upTo: Revision): void {
    if (group.members.size === 0) return;
    group.add(events, upTo);
    this.pending.add(group);
  }

  /** Runs the first slice at once, unless earlier events are still being delivered; further ones while too many bytes wait. */
  begin(): void {
    if (this.inSlice) return;
    if (this.pending.size > 0 && !this.sliceIsComing) this.slice();
    while (this.exceedsLimit) this.deliverSlice();
  }

  private get exceedsLimit(): boolean {
    for (const { pendingBytes } of this.pending) if (pendingBytes > maxPendingBytes) return true;
    return false;
  }

  private slice(): void {
    this.sliceIsComing = false;
    this.deliverSlice();
    if (this.pending.size === 0) return;
    this.sliceIsComing = true;
    this.later(() => this.slice());
  }

  private deliverSlice(): void {
    this.inSlice = true;
    try {
      let left = sliceBytes;
      for (const group of this.pending) {
        left = group.deliver(left);
        // A group with more events goes behind the others.
        this.pending.delete(group);
        if (group.isPending) this.pending.add(group);
        if (left <= 0) break;
      }
    } finally {
      this.inSlice = false;
    }
  }
}

/** Subscriptions with the same prefix and selection, and the events that not all of them have received. */
export class DeferredGroup {
  readonly members = new Set<Receiver>();
  private batches: Batch[] = [];
  /** Bytes of the events that not all members have received. */
  pendingBytes = 0;
  /** The members that the current round has not visited yet; undefined between rounds. */
  private round: Iterator<Receiver> | undefined;
  /** Every member that the current round has visited has received every event up to here; see {@link deliver}. */
  private reached = 0;
  /** Number of batches at the start of `batches` that the selection matches; the others have not been compared with it. */
  private selected = 0;
  private joined: { readonly after: Revision; readonly count: number; readonly batch: Batch } | undefined;

  constructor(private readonly selection: Deferral) {}

  get isPending(): boolean {
    return this.batches.length > 0;
  }

  add(events: readonly StoreEvent[], upTo: Revision): void {
    let bytes = 0;
    for (const event of events) bytes += eventBytes(event);
    this.batches.push({ events, upTo, bytes });
    this.pendingBytes += bytes;
  }

  /** Whether there are events that a receiver at this revision has not received. */
  hasAfter(revision: Revision): boolean {
    const last = this.batches.at(-1);
    return last !== undefined && last.upTo > revision;
  }

  /** Delivers all events to one member. */
  catchUp(receiver: Receiver): void {
    for (let batch: Batch | undefined; (batch = this.after(receiver.deliveredUpTo)) !== undefined;) {
      receiver.deliver(batch.events, batch.upTo);
      // It was closed meanwhile.
      if (receiver.deliveredUpTo < batch.upTo) return;
    }
  }

  /**
   * Visits members until the allowed cost is reached; returns what is left of it.
   *
   * Invariant: a batch is dropped only after every member has received it. A round visits every member, including those that join during
   * it, and drops the batches up to `reached`. Batches are added between the slices of a round, so each visit lowers `reached` to the last
   * revision that the member has received, or to that of the last batch at this time if it has received more: a member that needs nothing
   * now, because it has synchronized or has just joined, still needs the batches that are added later.
   */
  deliver(allowed: number): number {
    let left = allowed;
    while (left > 0 && this.isPending) {
      if (this.round === undefined) {
        left -= this.select();
        if (!this.isPending) break;
        this.round = this.members.values();
        this.reached = Infinity;
      }
      const { value: receiver, done } = this.round.next();
      if (done === true) {
        this.endRound();
        continue;
      }
      const batch = this.after(receiver.deliveredUpTo);
      left -= lookBytes;
      this.reached = Math.min(this.reached, (batch ?? this.batches.at(-1)!).upTo);
      if (batch === undefined) continue;
      left -= deliveryBytes + batch.bytes;
      receiver.deliver(batch.events, batch.upTo);
    }
    return left;
  }

  /** Drops batches that the selection doesn't match; returns the cost. */
  private select(): number {
    const rest = this.batches.slice(this.selected);
    const matching = rest.filter(({ events }) => this.isSelected(events));
    if (matching.length < rest.length) {
      this.keep([...this.batches.slice(0, this.selected), ...matching]);
      this.joined = undefined;
    }
    this.selected = this.batches.length;
    return rest.length * lookBytes;
  }

  private isSelected(events: readonly StoreEvent[]): boolean {
    try {
      return this.selection.selects(events);
    } catch {
      // The members throw the same exception when they receive the events, which ends their subscriptions with it.
      return true;
    }
  }

  private keep(batches: Batch[]): void {
    this.batches = batches;
    this.pendingBytes = batches.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  private endRound(): void {
    const before = this.batches.length;
    this.keep(this.batches.filter(({ upTo }) => upTo > this.reached));
    this.selected = Math.max(0, this.selected - (before - this.batches.length));
    this.round = undefined;
    this.joined = undefined;
  }

  /** Returns the first batches after a revision as one; members at the same revision get the same one. */
  private after(revision: Revision): Batch | undefined {
    const { batches, joined } = this;
    if (joined?.after === revision && joined.count === batches.length) return joined.batch;
    if (!this.hasAfter(revision)) return undefined;
    const first = batches.findIndex(({ upTo }) => upTo > revision);
    let end = first + 1;
    for (let bytes = batches[first]!.bytes; end < batches.length; end++) {
      bytes += batches[end]!.bytes;
      if (bytes > joinedBytes) break;
    }
    const batch = end === first + 1 ? batches[first]! : join(batches.slice(first, end));
    this.joined = { after: revision, count: batches.length, batch };
    return batch;
  }
}

function join(batches: readonly Batch[]): Batch {
  return {
    events: batches.flatMap(({ events }) => events),
    upTo: batches.at(-1)!.upTo,
    bytes: batches.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}
