import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { WatchChange, WatchObserver } from "../../resources/registry/watch-change.ts";
import type { Revision, Subscription } from "../../storage/store.ts";

/** What happens to a watch event. */
export interface EventFate {
  /** Waits before the event and all later ones; calls back once. */
  readonly wait?: ((then: () => void) => void) | undefined;
  /** How often the event is delivered: 0, 1 or 2. */
  readonly copies: 0 | 1 | 2;
  /** The watch ends with this error instead of delivering the event. */
  readonly end?: Error | undefined;
}

/** What a {@link FaultyWatch} needs. */
export interface WatchParts {
  /** Decides about an event; undefined if it is delivered as usual. */
  decide(change: WatchChange): EventFate | undefined;
  /** Reports that events up to a revision were delivered. */
  delivered(upTo: Revision): void;
  /** Called once when the watch has ended or was closed. */
  closed(): void;
}

interface Delivery {
  readonly changes: readonly WatchChange[];
  readonly upTo: Revision;
  /** Cleared when the wait is over. */
  wait?: EventFate["wait"];
  readonly end?: Error | undefined;
}

/** A watch whose events may be late, lost or repeated, and that may end early. */
export class FaultyWatch implements Subscription {
  private inner: Subscription | undefined;
  private deliveredUpTo: Revision | undefined;
  private readonly queue: Delivery[] = [];
  private isWaiting = false;
  private isClosed = false;

  constructor(
    private readonly observer: WatchObserver,
    /** Verb and collection, for messages. */
    readonly text: string,
    private readonly parts: WatchParts,
  ) {}

  /** Starts the watch; called once. */
  start(subscribe: (observer: WatchObserver) => Subscription): this {
    const { observer } = this;
    this.inner = subscribe({
      changes: (changes, upTo) => this.receive(changes, upTo),
      ended: (error) => this.enqueue({ changes: [], upTo: 0 as Revision, end: error }),
      ...(observer.drained === undefined ? {} : { drained: () => observer.drained!() }),
    });
    // It may have ended during the call.
    if (this.isClosed) this.inner.close();
    return this;
  }

  get position(): Revision {
    return this.deliveredUpTo ?? this.inner!.position;
  }

  sync(): MaybePromise<Revision> {
    return this.inner!.sync();
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.queue.length = 0;
    this.inner?.close();
    this.parts.closed();
  }

  /** Ends the watch, as by its server. */
  end(error: Error): void {
    if (this.isClosed) return;
    this.close();
    this.observer.ended(error);
  }

  private receive(changes: readonly WatchChange[], upTo: Revision): void {
    if (this.isClosed) return;
    const fates = changes.map((change) => this.parts.decide(change));
    if (this.queue.length === 0 && fates.every((fate) => fate === undefined)) {
      this.deliver({ changes, upTo });
      return;
    }
    for (const [index, change] of changes.entries()) {
      const { wait, copies = 1, end } = fates[index] ?? {};
      const { revision } = change.event;
      // The position may not include a revision before its last event is delivered.
      const isLast = changes[index + 1]?.event.revision !== revision;
      const reached = Math.min(isLast ? revision : revision - 1, upTo) as Revision;
      this.queue.push({ changes: Array.from({ length: copies }, () => change), upTo: reached, wait, end });
    }
    this.enqueue({ changes: [], upTo });
  }

  private enqueue(delivery: Delivery): void {
    if (this.isClosed) return;
    this.queue.push(delivery);
    this.pump();
  }

  /** Delivers what doesn't have to wait. */
  private pump(): void {
    while (!this.isWaiting) {
      const next = this.queue[0];
      if (next === undefined) return;
      const { wait, end } = next;
      if (wait !== undefined) {
        this.isWaiting = true;
        delete next.wait;
        wait(() => {
          this.isWaiting = false;
          this.pump();
        });
        return;
      }
      this.queue.shift();
      if (end === undefined) this.deliver(next);
      else this.end(end);
    }
  }

  private deliver({ changes, upTo }: Delivery): void {
    this.deliveredUpTo = upTo;
    if (changes.length > 0) this.parts.delivered(upTo);
    this.observer.changes(changes, upTo);
  }
}
