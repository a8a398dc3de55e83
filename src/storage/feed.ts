import { andThen, type MaybePromise } from "../base/turns/maybe-promise.ts";
import { DeferredDeliveries, DeferredGroup, type Receiver } from "./deferred-deliveries.ts";
import { revisionOf } from "./entry.ts";
import { portionOf } from "./event-portions.ts";
import { EventRing } from "./event-ring.ts";
import { assertPrefix, countersOf, eachPrefix, isIn } from "./keys.ts";
import {
  type Deferral,
  type Listener,
  RevisionCompactedError,
  type Revision,
  StoreClosedError,
  StoreDamagedError,
  StoreError,
  type StoreEvent,
  type SubscribeOptions,
  type Subscription,
} from "./store.ts";
import { TransactionRevisions } from "./transaction-revisions.ts";

/** Part of the history: every event under the requested prefix up to `upTo`. */
export interface PastSlice {
  readonly events: readonly StoreEvent[];
  readonly upTo: Revision;
}

/** The engine's functions that its feed calls. */
export interface FeedSource {
  /** The oldest revision after which a subscription may start, from cached state, without waiting. */
  knownFloor(): Revision;
  /**
   * Reads events under `prefix` after revision `after`, up to `upTo` or for a few milliseconds. The slice advances by at least one
   * revision.
   *
   * @throws {RevisionCompactedError} if the log starts after `after`.
   */
  readPast(prefix: string, after: Revision, upTo: Revision): MaybePromise<PastSlice>;
  /** Publishes all events that any process committed before the call. */
  refresh(): MaybePromise<void>;
}

/** Live subscriptions with the same prefix; they receive the same arrays. */
class Group {
  /** The members that receive events at once. */
  private readonly prompt = new Set<FeedSubscription>();
  /** The others, by the key of their selection. */
  readonly deferred = new Map<string, DeferredGroup>();
  batch: StoreEvent[] = [];

  get members(): Iterable<FeedSubscription> {
    return this.prompt;
  }

  get isEmpty(): boolean {
    return this.prompt.size === 0 && this.deferred.size === 0;
  }

  add(subscription: FeedSubscription): void {
    const { deferral } = subscription;
    if (deferral === undefined) {
      this.prompt.add(subscription);
      return;
    }
    let group = this.deferred.get(deferral.key);
    if (group === undefined) this.deferred.set(deferral.key, (group = new DeferredGroup(deferral)));
    group.members.add(subscription);
  }

  delete(subscription: FeedSubscription): void {
    this.prompt.delete(subscription);
    const key = subscription.deferral?.key;
    const group = key === undefined ? undefined : this.deferred.get(key);
    if (group?.members.delete(subscription) === true && group.members.size === 0) this.deferred.delete(key!);
  }
}

interface Delivery {
  readonly to: FeedSubscription;
  readonly batch: readonly StoreEvent[];
  readonly upTo: Revision;
}

/**
 * Delivers the events of one store object in order. The engine publishes each committed event once, in revision order; the
 * feed delivers it only to subscriptions whose prefix covers its key. The cost of an event doesn't depend on the number of
 * other subscriptions.
 */
export class Feed {
  private readonly groups = new Map<string, Group>();
  private readonly all = new Set<FeedSubscription>();
  private readonly deferred = new DeferredDeliveries();
  private readonly ring: EventRing;
  private readonly transactions: TransactionRevisions;
  /** FIFO queue. It keeps the order of events when a listener publishes during a delivery. */
  private deliveries: Delivery[] = [];
  private nextDelivery = 0;
  private failure: StoreError | undefined;

  /** @param position revision at which the feed starts; `ringBytes` limits the memory for recent events. */
  constructor(
    readonly source: FeedSource,
    public position: Revision,
    ringBytes: number,
  ) {
    this.ring = new EventRing(ringBytes, position);
    this.transactions = new TransactionRevisions(position);
  }

  get hasSubscriptions(): boolean {
    return this.all.size > 0;
  }

  /** Delivers the events after the current position up to `upTo`, in order and without gaps. */
  publish(events: readonly StoreEvent[], upTo: Revision): void {
    if (upTo <= this.position) return;
    this.position = upTo;
    const touched = new Set<Group>();
    let partition = "";
    let groups: readonly Group[] = [];
    let revision = 0;
    for (const event of events) {
      this.ring.push(event);
      if (event.revision === revision) this.transactions.add(event.revision);
      revision = event.revision;
      if (this.groups.size === 0) continue;
      // Usually all writes of a batch are in one partition.
      if (!isIn(event.key, partition)) {
        partition = countersOf(event.key).partition;
        groups = this.groupsOf(event.key);
        for (const group of groups) touched.add(group);
      }
      for (const group of groups) group.batch.push(event);
    }
    for (const group of touched) {
      const batch = group.batch;
      group.batch = [];
      for (const to of group.members) this.deliveries.push({ to, batch, upTo });
      for (const deferred of group.deferred.values()) this.deferred.add(deferred, batch, upTo);
    }
    this.drain();
    this.deferred.begin();
  }

  /** Returns the groups whose prefix matches a key. */
  private groupsOf(key: string): Group[] {
    const groups: Group[] = [];
    eachPrefix(key, (prefix) => {
      const group = this.groups.get(prefix);
      if (group !== undefined) groups.push(group);
    });
    return groups;
  }

  /** Implements `Store.subscribe`. */
  subscribe(options: SubscribeOptions, listener: Listener): Subscription {
    assertPrefix(options.prefix);
    const subscription = new FeedSubscription(this, options, listener, this.startOf(options));
    this.all.add(subscription);
    if (this.failure !== undefined) subscription.endSoon(this.failure);
    else if (options.after < this.source.knownFloor()) {
      subscription.endSoon(new RevisionCompactedError(options.after, this.source.knownFloor()));
    } else subscription.start();
    return subscription;
  }

  /** The revision after which the first delivered event is. */
  private startOf({ after, repeatsTransaction }: SubscribeOptions): Revision {
    if (repeatsTransaction !== true || after <= this.source.knownFloor()) return after;
    return after > this.position || this.transactions.mayHave(after) ? revisionOf(after - 1) : after;
  }

  /** Ends all current and future subscriptions with `error`. */
  end(error: StoreError): void {
    this.failure ??= error;
    this.endAll(error);
  }

  /** Ends the current subscriptions; new ones may start. */
  endAll(error: StoreError): void {
    for (const subscription of this.all) subscription.end(error);
  }

  /** Ends the subscriptions that need events at or before `floor`, which are gone; the feed continues at `floor`. */
  skipTo(floor: Revision): void {
    for (const subscription of this.all) {
      if (subscription.position < floor) {
        subscription.end(new RevisionCompactedError(subscription.position, floor));
      }
    }
    this.ring.skipTo(floor);
    this.transactions.skipTo(floor);
    this.moveTo(floor);
  }

  /** Advances the position over revisions without events. */
  moveTo(position: Revision): void {
    if (position > this.position) this.position = position;
  }

  /** Returns the events above `after` under `prefix` from the ring; undefined if it no longer has all of them. */
  recent(prefix: string, after: Revision): StoreEvent[] | undefined {
    if (!this.ring.covers(after)) return undefined;
    return this.ring.after(after).filter((event) => event.key.startsWith(prefix));
  }

  join(prefix: string, subscription: FeedSubscription): void {
    let group = this.groups.get(prefix);
    if (group === undefined) this.groups.set(prefix, (group = new Group()));
    group.add(subscription);
  }

  leave(prefix: string, subscription: FeedSubscription): void {
    this.all.delete(subscription);
    const group = this.groups.get(prefix);
    group?.delete(subscription);
    if (group?.isEmpty === true) this.groups.delete(prefix);
  }

  /** The group whose events a live subscription receives later, if it is deferrable. */
  deferredGroup(prefix: string, { deferral }: FeedSubscription): DeferredGroup | undefined {
    return deferral === undefined ? undefined : this.groups.get(prefix)?.deferred.get(deferral.key);
  }

  get hasQueuedDeliveries(): boolean {
    return this.nextDelivery < this.deliveries.length;
  }

  /** Delivers all queued events; inside a listener it first finishes the deliveries of the outer call. */
  drain(): void {
    while (this.nextDelivery < this.deliveries.length) {
      const delivery = this.deliveries[this.nextDelivery++]!;
      delivery.to.deliver(delivery.batch, delivery.upTo);
    }
    this.deliveries = [];
    this.nextDelivery = 0;
  }
}

/** A subscription. It reads the history in slices, then joins the group of its prefix. */
export class FeedSubscription implements Subscription, Receiver {
  private state: "past" | "live" | "closed" = "past";
  private readonly after: Revision;
  private readonly prefix: string;
  readonly deferral: Deferral | undefined;
  /** The history slice that is being read asynchronously. */
  private slice: Promise<void> | undefined;

  constructor(
    private readonly feed: Feed,
    options: SubscribeOptions,
    private readonly listener: Listener,
    private delivered: Revision,
  ) {
    this.prefix = options.prefix;
    this.deferral = options.deferral;
    this.after = options.after;
  }

  get position(): Revision {
    const { feed, delivered } = this;
    if (this.state !== "live" || feed.position <= delivered) return delivered;
    // Between the deliveries of one publication this subscription may not have received its events yet.
    if (this.deferral === undefined && feed.hasQueuedDeliveries) return delivered;
    return feed.deferredGroup(this.prefix, this)?.hasAfter(delivered) === true ? delivered : feed.position;
  }

  get deliveredUpTo(): Revision {
    return this.delivered;
  }

  sync(): MaybePromise<Revision> {
    return andThen(this.feed.source.refresh(), () => this.catchUpNow());
  }

  close(): void {
    if (this.state === "closed") return;
    this.delivered = this.position;
    this.state = "closed";
    this.feed.leave(this.prefix, this);
  }

  /** Ends the subscription with an error; calls `listener.ended` once. If only repeated events are gone, it continues without them. */
  end(error: StoreError): void {
    if (this.state === "closed") return;
    if (error instanceof RevisionCompactedError && this.delivered < this.after && error.floor <= this.after) {
      this.delivered = this.after;
      return;
    }
    this.close();
    this.listener.ended(error);
  }

  /** Calls the listener. If it throws, which is a bug, its subscription ends with the error; others are not affected. */
  private notify(batch: readonly StoreEvent[], upTo: Revision): void {
    try {
      this.listener.events(batch, upTo);
    } catch (error) {
      this.endSoon(new StoreError(`the subscriber failed: ${String(error)}`, { cause: error }));
    }
  }

  /** As {@link end}, but after `subscribe` has returned. */
  endSoon(error: StoreError): void {
    queueMicrotask(() => this.end(error));
  }

  start(): void {
    if (this.becomeLive()) return;
    this.readInBackground().catch((error: unknown) => this.end(asStoreError(error)));
  }

  /** Delivers a batch of live events, without those before the subscription's start. */
  deliver(batch: readonly StoreEvent[], upTo: Revision): void {
    if (this.state === "closed" || upTo <= this.delivered) return;
    const first = batch[0];
    const undelivered =
      first === undefined || first.revision > this.delivered
        ? batch
        : batch.filter((event) => event.revision > this.delivered);
    this.delivered = upTo;
    if (undelivered.length > 0 || this.state === "past") this.notify(undelivered, upTo);
  }

  private catchUpNow(): MaybePromise<Revision> {
    this.feed.drain();
    if (this.state === "live") this.feed.deferredGroup(this.prefix, this)?.catchUp(this);
    while (this.state === "past") {
      if (this.becomeLive()) break;
      const step = this.readSlice();
      if (step instanceof Promise) return step.then(() => this.catchUpNow());
    }
    return this.position;
  }

  private async readInBackground(): Promise<void> {
    while (this.state === "past") {
      await this.readSlice();
      await this.listener.drained?.();
      if (this.becomeLive()) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Becomes live if the ring has all events in between and they fit one portion. */
  private becomeLive(): boolean {
    if (this.state !== "past") return true;
    const { feed } = this;
    const events = this.delivered >= feed.position ? [] : feed.recent(this.prefix, this.delivered);
    if (events === undefined || portionOf(events) < events.length) return false;
    this.state = "live";
    feed.join(this.prefix, this);
    if (events.length > 0) this.deliver(events, feed.position);
    return true;
  }

  /** Delivers one portion of history from the ring; returns false if the ring doesn't reach back far enough. */
  private deliverRecent(): boolean {
    const events = this.feed.recent(this.prefix, this.delivered);
    const last = events?.[portionOf(events) - 1];
    if (events === undefined || last === undefined) return false;
    this.deliver(events.slice(0, portionOf(events)), last.revision);
    return true;
  }

  /** Reads and delivers one slice of the past. Concurrent readers (sync and background) share one. */
  private readSlice(): MaybePromise<void> {
    if (this.slice !== undefined) return this.slice;
    if (this.deliverRecent()) return;
    const after = this.delivered;
    const advance = ({ events, upTo }: PastSlice): void => {
      if (upTo <= after)
        throw new StoreDamagedError(`the log has nothing after revision ${after}, up to ${upTo}`);
      this.deliver(events, upTo);
    };
    try {
      const read = this.feed.source.readPast(this.prefix, after, this.feed.position);
      if (!(read instanceof Promise)) return advance(read);
      this.slice = read
        .then(advance)
        .catch((error: unknown) => this.end(asStoreError(error)))
        .finally(() => (this.slice = undefined));
      return this.slice;
    } catch (error) {
      this.end(asStoreError(error));
    }
  }
}

function asStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  return new StoreError(`the history could not be read: ${String(error)}`, { cause: error });
}

/** Returns the error of all calls to a closed store. */
export function closedError(): StoreClosedError {
  return new StoreClosedError("the store is closed");
}
