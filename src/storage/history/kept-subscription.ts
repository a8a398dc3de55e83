import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { createYielder, nextTurn } from "../../base/turns/yielding.ts";
import { revisionOf } from "../entry.ts";
import {
  RevisionCompactedError,
  StoreError,
  type Listener,
  type Revision,
  type Store,
  type StoreEvent,
  type SubscribeOptions,
  type Subscription,
} from "../store.ts";
import type { RecordedChange } from "./archive.ts";

/** Bounds the changes that are put in order at once, in memory. */
const maxSortedChanges = 20_000;
/** Size of the values in a batch of events, in bytes. */
const batchBytes = 1024 * 1024;

/** What a subscription reads of the history. */
export interface KeptEvents {
  /** The oldest revision after which it may start. */
  floor(): Promise<Revision>;
  /** Yields the changes under the prefix, in any order. */
  changes(): AsyncIterable<RecordedChange>;
  /** Returns the event of a change. */
  event(change: RecordedChange): Promise<StoreEvent>;
}

/**
 * A subscription in a kept collection. If the store no longer has what it needs, the recorded changes are delivered up to the present, in
 * the order of their revisions; then it continues as one of the store.
 */
export class KeptSubscription implements Subscription {
  private delivered: Revision;
  /** Whether the events at the start are delivered too; see {@link SubscribeOptions.repeatsTransaction}. */
  private repeats: boolean;
  private live: Subscription | undefined;
  private closed = false;
  /** Settles when recorded changes have been delivered. */
  private past: Promise<void> | undefined;

  constructor(
    private readonly store: Store,
    private readonly history: KeptEvents,
    private readonly options: SubscribeOptions,
    private readonly listener: Listener,
  ) {
    this.delivered = options.after;
    this.repeats = options.repeatsTransaction === true;
    this.join();
  }

  private join(): void {
    const { listener } = this;
    this.live = this.store.subscribe(
      { ...this.options, after: this.delivered, repeatsTransaction: this.repeats },
      {
        events: (batch, upTo) => {
          this.repeats = false;
          this.delivered = upTo;
          listener.events(batch, upTo);
        },
        ended: (error) => this.onEnded(error),
        ...(listener.drained && { drained: () => listener.drained!() }),
      },
    );
  }

  get position(): Revision {
    return this.live?.position ?? this.delivered;
  }

  sync(): MaybePromise<Revision> {
    const { live } = this;
    if (live === undefined) return this.syncPast();
    // A subscription that ended meanwhile hasn't delivered everything.
    const reachedBy = (revision: Revision) => (this.live === live ? revision : this.syncPast());
    try {
      // Synchronous if that of the store is.
      const reached = live.sync();
      if (!(reached instanceof Promise)) return reachedBy(reached);
      return reached.then(reachedBy, (error: unknown) => this.syncAfter(error));
    } catch (error) {
      return this.syncAfter(error);
    }
  }

  /** Continues {@link sync} after an error of the store, which ends its subscription too. */
  private syncAfter(error: unknown): Promise<Revision> {
    if (error instanceof RevisionCompactedError) return this.syncPast();
    throw error;
  }

  private async syncPast(): Promise<Revision> {
    // The store reports the end of its subscription in a turn of its own.
    await nextTurn();
    await this.past;
    return this.closed ? this.delivered : this.sync();
  }

  close(): void {
    this.delivered = this.position;
    this.closed = true;
    this.live?.close();
  }

  private onEnded(error: StoreError): void {
    this.live = undefined;
    if (this.closed) return;
    if (!(error instanceof RevisionCompactedError)) return this.end(error);
    const past = this.catchUp()
      .catch((failure: unknown) => this.end(failure))
      .finally(() => {
        // The store may have ended the next subscription meanwhile.
        if (this.past === past) this.past = undefined;
      });
    this.past = past;
  }

  private end(error: unknown): void {
    if (this.closed) return;
    this.closed = true;
    this.listener.ended(
      error instanceof StoreError
        ? error
        : new StoreError(`the history can't be read: ${String(error)}`, { cause: error }),
    );
  }

  private async catchUp(): Promise<void> {
    const floor = await this.history.floor();
    if (this.delivered < floor) throw new RevisionCompactedError(this.delivered, floor);
    if (this.repeats && this.delivered > floor) this.delivered = revisionOf(this.delivered - 1);
    this.repeats = false;
    await this.deliverUpTo(await this.store.latestRevision());
    if (!this.closed) this.join();
  }

  /** Delivers the changes up to a revision, the oldest first; all of them that there are have been committed. */
  private async deliverUpTo(upTo: Revision): Promise<void> {
    while (!this.closed && this.delivered < upTo) {
      const changes = await this.oldest(upTo);
      const last = changes.length < maxSortedChanges ? upTo : changes.at(-1)!.revision;
      // The changes of the last revision may not be complete.
      const complete = last === upTo ? changes : changes.filter(({ revision }) => revision < last);
      await this.deliver(complete, last === upTo ? upTo : ((last - 1) as Revision));
    }
  }

  /** Returns the oldest changes that were not delivered, in order, at most {@link maxSortedChanges}. */
  private async oldest(upTo: Revision): Promise<RecordedChange[]> {
    const yieldIfDue = createYielder();
    const byRevision = (a: RecordedChange, b: RecordedChange) => a.revision - b.revision;
    let changes: RecordedChange[] = [];
    for await (const change of this.history.changes()) {
      if (change.revision > this.delivered && change.revision <= upTo) changes.push(change);
      if (changes.length >= 2 * maxSortedChanges)
        changes = changes.toSorted(byRevision).slice(0, maxSortedChanges);
      await yieldIfDue();
    }
    return changes.toSorted(byRevision).slice(0, maxSortedChanges);
  }

  private async deliver(changes: readonly RecordedChange[], upTo: Revision): Promise<void> {
    let batch: StoreEvent[] = [];
    let bytes = 0;
    for (const [index, change] of changes.entries()) {
      if (this.closed) return;
      const event = await this.history.event(change);
      batch.push(event);
      bytes += (event.entry?.body.length ?? 0) + (event.previous?.body.length ?? 0);
      const isLastOfRevision = changes[index + 1]?.revision !== change.revision;
      if (bytes < batchBytes || !isLastOfRevision) continue;
      await this.notify(batch, change.revision);
      [batch, bytes] = [[], 0];
    }
    await this.notify(batch, upTo);
  }

  private async notify(batch: readonly StoreEvent[], upTo: Revision): Promise<void> {
    if (this.closed) return;
    this.delivered = upTo;
    this.listener.events(batch, upTo);
    await this.listener.drained?.();
  }
}
