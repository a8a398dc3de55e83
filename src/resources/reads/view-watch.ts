import { setTimeout } from "node:timers/promises";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import type { Revision, Subscription } from "../../storage/store.ts";
import type { FollowedView, ViewState } from "../objects/followed-view.ts";
import type { WatchSource } from "../registry/versioned-storage.ts";
import { shownEntry, type WatchChange, type WatchObserver } from "../registry/watch-change.ts";
import { grantChanges, type WatchedCollection } from "./grant-changes.ts";
import { visibleChanges } from "./visible-changes.ts";

/** Maximum size of the objects of events that wait for changes of grants, in bytes; above it the watch ends. */
const maxPendingBytes = 8 * 1024 * 1024;
/** Size of an event beside its object. */
const eventOverheadBytes = 256;
/** Shortest and longest interval at which the progress of a watch through the history is checked. */
const minProgressMs = 2;
const maxProgressMs = 64;

interface PendingBatch {
  readonly changes: readonly WatchChange[];
  readonly upTo: Revision;
  readonly bytes: number;
}

/**
 * A watch of the objects that a user may get. Merges the events of the collection with the changes of the view in the order of their
 * revisions: an event waits until every change of grants up to its revision is known.
 */
export class ViewWatch implements Subscription {
  private inner: Subscription | undefined;
  private delivered: Revision;
  private pending: PendingBatch[] = [];
  private pendingBytes = 0;
  private progressMs = minProgressMs;
  private work: Promise<void> | undefined;
  /** Called when no events are pending. */
  private onEmpty: (() => void)[] = [];
  /** Whether the collection's events have been followed up to the present. */
  private isLive = false;
  private ended = false;

  /** @param after the revision after which the watch begins; `view` was opened there. It is closed with the watch. */
  constructor(
    private readonly collection: Omit<WatchedCollection, "yieldIfDue">,
    private readonly view: FollowedView,
    private readonly observer: WatchObserver,
    after: Revision,
  ) {
    this.delivered = after;
  }

  /** @param source subscribes an observer to the selected changes of the collection. */
  start(source: WatchSource): this {
    const { observer } = this;
    this.view.listen({ changed: () => this.proceed(), ended: (error) => this.end(error) });
    try {
      this.inner = source({
        changes: (changes, upTo) => this.receive(changes, upTo),
        ended: (error) => this.end(error),
        ...(observer.drained === undefined ? {} : { drained: () => this.drained() }),
      });
    } catch (error) {
      this.close();
      throw error;
    }
    if (this.ended) this.inner.close();
    else this.proceed();
    return this;
  }

  get position(): Revision {
    const { inner, delivered, view } = this;
    if (this.ended || inner === undefined || !this.isIdle) return delivered;
    return Math.max(delivered, Math.min(inner.position, view.position)) as Revision;
  }

  sync(): MaybePromise<Revision> {
    if (this.ended || this.inner === undefined) return this.delivered;
    return andThen(this.inner.sync(), (upTo) => andThen(this.view.reach(upTo), () => this.settle()));
  }

  close(): void {
    this.ended = true;
    this.pending = [];
    this.inner?.close();
    this.view.close();
    this.releaseWaiting();
  }

  /** Whether everything that has been received is delivered. */
  private get isIdle(): boolean {
    return this.work === undefined && this.pending.length === 0 && this.view.state.next === undefined;
  }

  private settle(): MaybePromise<Revision> {
    return this.work === undefined ? this.position : this.work.then(() => this.settle());
  }

  private receive(changes: readonly WatchChange[], upTo: Revision): void {
    if (this.ended) return;
    if (this.isIdle && this.view.position >= upTo) return this.deliver(changes, upTo);
    const bytes = changes.reduce(
      (sum, change) => sum + shownEntry(change).body.length + eventOverheadBytes,
      0,
    );
    this.pending.push({ changes, upTo, bytes });
    this.pendingBytes += bytes;
    if (this.pendingBytes > maxPendingBytes) {
      const message = "the events come faster than the client and the changes of its user's grants allow";
      return this.end(new StatusError("Timeout", message));
    }
    this.proceed();
  }

  /** Delivers the pending events and the changes of the view, unless that is in progress. */
  private proceed(): void {
    this.isLive ||= this.inner !== undefined && this.inner.position >= this.view.position;
    if (this.ended || this.work !== undefined || this.isIdle) return;
    // In a microtask, because the first step may deliver events, which must find the work begun.
    this.work = Promise.resolve()
      .then(() => this.run())
      .catch((error: unknown) => this.end(error as Error))
      .then(() => {
        this.work = undefined;
        this.proceed();
      });
  }

  private async run(): Promise<void> {
    while (!this.ended) {
      const { next } = this.view.state;
      const batch = this.pending[0];
      if (next === undefined) {
        if (batch === undefined) return;
        if (this.view.position < batch.upTo) await this.reach(batch.upTo);
        else this.deliverFirst(batch);
      } else if (next.since <= this.delivered) {
        this.view.advance();
      } else if (batch !== undefined && batch.upTo < next.since) {
        this.deliverFirst(batch);
      } else if (batch === undefined && (this.inner?.position ?? this.delivered) < next.since) {
        await this.awaitEvents();
      } else {
        await this.deliverGrants(next);
      }
    }
  }

  private async reach(revision: Revision): Promise<void> {
    await this.view.reach(revision);
    if (!this.ended && this.view.state.next === undefined && this.view.position < revision)
      throw new Error(`the changes of grants up to revision ${revision} can't be followed`);
  }

  /** Waits for events of the collection that have been committed before a change of grants. */
  private async awaitEvents(): Promise<void> {
    // A long history must be read in portions, as the client takes them.
    if (this.isLive) await this.inner?.sync();
    else await this.awaitProgress();
    this.isLive ||= this.inner !== undefined && this.inner.position >= this.view.position;
  }

  /** Waits longer each time the client has taken nothing. */
  private async awaitProgress(): Promise<void> {
    const before = this.inner?.position;
    await setTimeout(this.progressMs);
    const isStalled = this.inner?.position === before;
    this.progressMs = isStalled ? Math.min(2 * this.progressMs, maxProgressMs) : minProgressMs;
  }

  private deliverFirst({ changes, upTo, bytes }: PendingBatch): void {
    this.pending.shift();
    this.pendingBytes -= bytes;
    this.deliver(changes, upTo);
    if (this.pending.length === 0) this.releaseWaiting();
  }

  private deliver(changes: readonly WatchChange[], upTo: Revision): void {
    this.delivered = upTo;
    this.observer.changes(visibleChanges(changes, this.view.state.view), upTo);
  }

  /** Delivers the events before the next state of the view, then the changes with which it begins. */
  private async deliverGrants(next: ViewState): Promise<void> {
    const { since } = next;
    const earlier = (since - 1) as Revision;
    const own = this.deliverUntil(since);
    const collection = { ...this.collection, yieldIfDue: this.view.yieldIfDue };
    for await (const { changes, isLast } of grantChanges(collection, this.view.state, own)) {
      if (this.ended) return;
      if (isLast) {
        this.view.advance();
        this.delivered = since;
      }
      if (changes.length > 0 || isLast) this.observer.changes(changes, isLast ? since : earlier);
      if (!isLast) await this.observer.drained?.();
    }
  }

  /** Delivers the pending events before a revision; returns those of this revision. */
  private deliverUntil(since: Revision): readonly WatchChange[] {
    const batch = this.pending[0];
    if (batch === undefined) return [];
    const { changes, upTo, bytes } = batch;
    const before = changes.filter(({ event }) => event.revision < since);
    this.pending[0] = { changes: changes.filter(({ event }) => event.revision > since), upTo, bytes };
    if (before.length > 0) this.deliver(before, (since - 1) as Revision);
    return changes.filter(({ event }) => event.revision === since);
  }

  private async drained(): Promise<void> {
    if (this.pending.length > 0) await new Promise<void>((resolve) => this.onEmpty.push(resolve));
    await this.observer.drained?.();
  }

  private releaseWaiting(): void {
    for (const resolve of this.onEmpty.splice(0)) resolve();
  }

  private end(error: Error): void {
    if (this.ended) return;
    this.close();
    this.observer.ended(error);
  }
}
