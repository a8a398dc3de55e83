import { andThen, type MaybePromise } from "../base/turns/maybe-promise.ts";
import { mapInTurns } from "../base/turns/yielding.ts";
import { revisionOf } from "./entry.ts";
import { countKeys } from "./range-pages.ts";
import type { StoreHistory, Version, VersionPage } from "./store-history.ts";
import { StoreView } from "./store-view.ts";
import {
  RevisionCompactedError,
  StoreError,
  StoreUnavailableError,
  type CommitResult,
  type Entry,
  type Listener,
  type RangeOptions,
  type RangePage,
  type Revision,
  type Store,
  type StoreEvent,
  type SubscribeOptions,
  type Subscription,
  type TransactionResult,
  type Write,
} from "./store.ts";

/** Bounds the events of a subscription that wait for decisions. */
const maxWaitingEvents = 10_000;

/** Decides which entries of a store are visible. */
export interface EntryFilter {
  isVisible(entry: Entry): MaybePromise<boolean>;

  /** Whether all entries under a prefix are visible; false if that isn't known without them. */
  showsAll(prefix: string): MaybePromise<boolean>;
}

/**
 * A view of a store without some of its entries: for readers they don't exist. A write to the key of an invisible entry is a conflict
 * whose current entry isn't shown.
 */
export class FilteredStore extends StoreView {
  private readonly ownHistory: StoreHistory | undefined;

  constructor(
    inner: Store,
    private readonly filter: EntryFilter,
  ) {
    super(inner);
    const { history } = inner;
    this.ownHistory = history && filteredHistory(history, (version) => this.showsVersion(history, version));
  }

  override get history(): StoreHistory | undefined {
    return this.ownHistory;
  }

  /** Whether the value of a version, or the one that it deleted, is visible. */
  private async showsVersion(history: StoreHistory, version: Version): Promise<boolean> {
    const { key, revision, deleted, previous } = version;
    // The version that was current at the floor may be older than it.
    const at = Math.max(deleted ? previous : revision, await history.floor(key));
    try {
      const entry = await this.inner.get(key, revisionOf(at));
      return entry !== undefined && (await this.filter.isVisible(entry));
    } catch (error) {
      // Values that aren't kept can't be judged.
      if (error instanceof RevisionCompactedError) return false;
      throw error;
    }
  }

  get(key: string, at?: Revision): MaybePromise<Entry | undefined> {
    return andThen(this.inner.get(key, at), (entry) => this.visibleEntry(entry));
  }

  private visibleEntry(entry: Entry | undefined): MaybePromise<Entry | undefined> {
    return entry && andThen(this.filter.isVisible(entry), (visible) => (visible ? entry : undefined));
  }

  /** A page may have fewer entries than its limit, and none although there are more. */
  async range(options: RangeOptions): Promise<RangePage> {
    if (await this.filter.showsAll(options.prefix)) return this.inner.range(options);
    let { after } = options;
    for (;;) {
      const page = await this.inner.range({ ...options, after });
      const { filter } = this;
      const visible = await mapInTurns(page.entries, (entry) => filter.isVisible(entry));
      const entries = page.entries.filter((_, index) => visible[index]);
      // A page must have an entry, so that its last key is the position of the next one.
      if (entries.length > 0 || !page.more) return { ...page, entries };
      options = { ...options, at: page.revision };
      after = page.entries.at(-1)!.key;
    }
  }

  override async count(prefix: string, at?: Revision): Promise<number> {
    if (await this.filter.showsAll(prefix)) return this.inner.count(prefix, at);
    return countKeys(this, prefix, at ?? (await this.inner.latestRevision()));
  }

  async commit(write: Write): Promise<CommitResult> {
    const result = await this.inner.commit(write);
    return result.ok ? result : { ...result, current: await this.visibleEntry(result.current) };
  }

  async transact(writes: readonly Write[]): Promise<TransactionResult> {
    const result = await this.inner.transact(writes);
    return result.ok ? result : { ...result, current: await this.visibleEntry(result.current) };
  }

  override subscribe(options: SubscribeOptions, listener: Listener): Subscription {
    return new FilteredSubscription(this.inner, this.filter, options, listener);
  }
}

/** The history without the versions whose values aren't visible. A page may have none although there are more. */
function filteredHistory(
  history: StoreHistory,
  isVisible: (version: Version) => Promise<boolean>,
): StoreHistory {
  const visiblePage = async (read: Promise<VersionPage>): Promise<VersionPage> => {
    const { versions, next } = await read;
    const visible = await mapInTurns(versions, isVisible);
    return { versions: versions.filter((_, index) => visible[index]), next };
  };
  return {
    keeps: (prefix) => history.keeps(prefix),
    floor: (prefix) => history.floor(prefix),
    revisionAt: (time) => history.revisionAt(time),
    forget: (start, ending) => history.forget(start, ending),
    versions: (key, options) => visiblePage(history.versions(key, options)),
    deletions: (prefix, options) => visiblePage(history.deletions(prefix, options)),
    changes: (prefix, options) => visiblePage(history.changes(prefix, options)),
  };
}

/** A subscription whose events wait, in their order, for decisions about those before them. */
class FilteredSubscription implements Subscription {
  private readonly inner: Subscription;
  /** The deliveries that wait; undefined if there are none. */
  private waiting: Promise<void> | undefined;
  private waitingEvents = 0;
  private closed = false;

  constructor(
    store: Store,
    private readonly filter: EntryFilter,
    { prefix, after }: SubscribeOptions,
    private readonly listener: Listener,
  ) {
    this.inner = store.subscribe(
      { prefix, after },
      {
        events: (batch, upTo) => this.receive(batch, upTo),
        ended: (error) => this.inTurn(() => this.end(error)),
        ...(listener.drained && {
          drained: async () => {
            await this.waiting;
            await listener.drained!();
          },
        }),
      },
    );
  }

  get position(): Revision {
    return this.inner.position;
  }

  sync(): MaybePromise<Revision> {
    return andThen(this.inner.sync(), (revision) =>
      this.waiting === undefined ? revision : this.waiting.then(() => revision),
    );
  }

  close(): void {
    this.closed = true;
    this.inner.close();
  }

  private receive(batch: readonly StoreEvent[], upTo: Revision): void {
    if (this.waiting === undefined) {
      const visible = this.visibleEvents(batch);
      if (!(visible instanceof Promise)) return this.deliver(visible, upTo);
      return this.wait(batch.length, () => visible, upTo);
    }
    if (this.waitingEvents + batch.length > maxWaitingEvents) {
      this.inner.close();
      return this.end(new StoreUnavailableError("decisions about events take too long"));
    }
    this.wait(batch.length, () => this.visibleEvents(batch), upTo);
  }

  private wait(events: number, visible: () => MaybePromise<readonly StoreEvent[]>, upTo: Revision): void {
    this.waitingEvents += events;
    this.inTurn(async () => {
      const decided = await visible();
      this.waitingEvents -= events;
      this.deliver(decided, upTo);
    });
  }

  /** Runs work after the deliveries that wait. */
  private inTurn(work: () => MaybePromise<void>): void {
    if (this.waiting !== undefined) return this.track(this.waiting.then(() => this.guarded(work)));
    const done = this.guarded(work);
    if (done !== undefined) this.track(done);
  }

  private track(done: Promise<void>): void {
    const tracked: Promise<void> = done.finally(() => {
      if (this.waiting === tracked) this.waiting = undefined;
    });
    this.waiting = tracked;
  }

  private guarded(work: () => MaybePromise<void>): Promise<void> | undefined {
    const failed = (error: unknown) => {
      this.inner.close();
      this.end(error instanceof StoreError ? error : new StoreError(String(error), { cause: error }));
    };
    const done = work();
    return done instanceof Promise ? done.catch(failed) : undefined;
  }

  private deliver(events: readonly StoreEvent[], upTo: Revision): void {
    if (!this.closed) this.listener.events(events, upTo);
  }

  private end(error: StoreError): void {
    if (this.closed) return;
    this.closed = true;
    this.listener.ended(error);
  }

  private visibleEvents(batch: readonly StoreEvent[]): MaybePromise<readonly StoreEvent[]> {
    const decided = batch.map((event) => this.visibleEvent(event));
    return decided.some((one) => one instanceof Promise)
      ? Promise.all(decided).then((events) => events.filter((one) => one !== undefined))
      : (decided as (StoreEvent | undefined)[]).filter((one) => one !== undefined);
  }

  /** An entry that becomes visible is created, one that becomes invisible is deleted. */
  private visibleEvent(event: StoreEvent): MaybePromise<StoreEvent | undefined> {
    const visible = (entry: Entry | undefined) =>
      entry === undefined
        ? undefined
        : andThen(this.filter.isVisible(entry), (is) => (is ? entry : undefined));
    return andThen(visible(event.entry), (entry) =>
      andThen(visible(event.previous), (previous) => {
        if (entry === undefined && previous === undefined) return undefined;
        return entry === event.entry && previous === event.previous ? event : { ...event, entry, previous };
      }),
    );
  }
}
