import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { closedError } from "../feed.ts";
import { assertKey, assertPrefix, keyspaceSeparator } from "../keys.ts";
import { PendingOperations } from "../pending-operations.ts";
import { countKeys, deleteKeys } from "../range-pages.ts";
import { StoreView } from "../store-view.ts";
import type {
  CommitResult,
  Deferral,
  DiscardResult,
  Entry,
  Listener,
  RangeOptions,
  RangePage,
  Revision,
  Store,
  StoreEvent,
  StoreHistory,
  SubscribeOptions,
  Subscription,
  TransactionResult,
  Write,
} from "../store.ts";

const idForm = /^[a-z0-9][a-z0-9-]{0,62}$/;

/**
 * Returns a keyspace of a store: a store of its own with the data of the other one's engine and its revision line. A key
 * `/{group}/{resource}/…` in it is the key `/{id}@{group}/{resource}/…` of the other store, so counts, pages and subscriptions of a
 * collection cost what they cost there. Closing it ends its subscriptions and leaves the other store open.
 *
 * @param id up to 63 lower-case letters, digits and hyphens.
 * @throws {TypeError} (a bug of the caller) the identifier is of another form.
 */
export function keyspace(store: Store, id: string): Store {
  if (!idForm.test(id)) throw new TypeError(`not an identifier of a keyspace: ${JSON.stringify(id)}`);
  return new KeyspaceStore(store, id);
}

/**
 * Deletes the keys of a keyspace and their history, in turns. What others write meanwhile is deleted too, as far as this call comes across it.
 *
 * @param ending ends the call early when it is aborted.
 * @returns the number of deleted keys.
 */
export async function deleteKeyspace(store: Store, id: string, ending?: AbortSignal): Promise<number> {
  const { start } = new Names(id);
  const deleted = await deleteKeys(store, start, ending);
  await store.history?.forget(start, ending);
  return deleted;
}

/** Returns the key in the other store of a key in a keyspace. */
export function keyInKeyspace(id: string, key: string): string {
  return new Names(id).inner(key);
}

/** Translates keys. */
class Names {
  /** The start of all keys of the keyspace in the other store. */
  readonly start: string;

  constructor(id: string) {
    this.start = `/${id}${keyspaceSeparator}`;
  }

  inner(key: string): string {
    return this.start + key.slice(1);
  }

  outer(key: string): string {
    return `/${key.slice(this.start.length)}`;
  }
}

class KeyspaceStore extends StoreView {
  private readonly names: Names;
  /** The entries and events of the other store as they are here, so that an object that it keeps stays the same. */
  private readonly entries = new WeakMap<Entry, Entry>();
  private readonly events = new WeakMap<StoreEvent, StoreEvent>();
  private readonly subscriptions = new Set<{ readonly inner: Subscription; readonly listener: Listener }>();
  private readonly pending = new PendingOperations();
  private closed = false;
  private readonly ownHistory: StoreHistory | undefined;

  constructor(inner: Store, id: string) {
    super(inner);
    this.names = new Names(id);
    this.ownHistory = inner.history && this.historyIn(inner.history);
  }

  get keepsEntries(): boolean {
    return this.inner.keepsEntries === true;
  }

  override get history(): StoreHistory | undefined {
    return this.ownHistory;
  }

  override latestRevision(): MaybePromise<Revision> {
    this.assertOpen();
    return this.inner.latestRevision();
  }

  get(key: string, at?: Revision): MaybePromise<Entry | undefined> {
    this.assertOpen();
    return andThen(this.inner.get(this.names.inner(key), at), (entry) => entry && this.outer(entry));
  }

  range(options: RangeOptions): MaybePromise<RangePage> {
    this.assertOpen();
    const { prefix, after } = options;
    assertPrefix(prefix);
    const { names } = this;
    const isWhole = prefix === "/";
    const read = this.inner.range({
      ...options,
      prefix: isWhole ? "/" : names.inner(prefix),
      after: after === undefined ? (isWhole ? names.start : undefined) : names.inner(after),
    });
    return andThen(read, (page) => {
      const own = isWhole ? page.entries.filter(({ key }) => key.startsWith(names.start)) : page.entries;
      const more = page.more && own.length === page.entries.length;
      const ownPage = { ...page, entries: own.map((entry) => this.outer(entry)), more };
      return isWhole && more ? this.endingHere(ownPage) : ownPage;
    });
  }

  /** Corrects whether there are more keys after a page of the whole keyspace: the next key may be that of another one. */
  private endingHere(page: RangePage): MaybePromise<RangePage> {
    const after = this.names.inner(page.entries.at(-1)!.key);
    const next = this.inner.range({ prefix: "/", at: page.revision, after, limit: 1 });
    return andThen(next, ({ entries }) => ({
      ...page,
      more: entries[0]?.key.startsWith(this.names.start) === true,
    }));
  }

  override count(prefix: string, at?: Revision): MaybePromise<number> {
    this.assertOpen();
    assertPrefix(prefix);
    return prefix === "/" ? this.countAll(at) : this.inner.count(this.names.inner(prefix), at);
  }

  private async countAll(at: Revision | undefined): Promise<number> {
    return countKeys(this, "/", at ?? (await this.inner.latestRevision()));
  }

  async commit(write: Write): Promise<CommitResult> {
    this.assertOpen();
    assertKey(write.key);
    const result = await this.pending.add(this.inner.commit(this.innerWrite(write)));
    if (result.ok) return { ...result, entry: this.outer(result.entry) };
    return { ...result, current: result.current && this.outer(result.current) };
  }

  async transact(writes: readonly Write[]): Promise<TransactionResult> {
    this.assertOpen();
    for (const { key } of writes) assertKey(key);
    const result = await this.pending.add(this.inner.transact(writes.map((write) => this.innerWrite(write))));
    if (result.ok) return { ...result, entries: result.entries.map((entry) => this.outer(entry)) };
    return { ...result, current: result.current && this.outer(result.current) };
  }

  private innerWrite(write: Write): Write {
    const { names } = this;
    const conditions = write.conditions?.map(({ key, revision }) => ({ key: names.inner(key), revision }));
    return { ...write, key: names.inner(write.key), ...(conditions && { conditions }) };
  }

  override discard(key: string, dryRun: boolean): Promise<DiscardResult> {
    this.assertOpen();
    return this.inner.discard?.(this.names.inner(key), dryRun) ?? Promise.resolve("readable");
  }

  override subscribe(options: SubscribeOptions, listener: Listener): Subscription {
    assertPrefix(options.prefix);
    const isWhole = options.prefix === "/";
    const { deferral } = options;
    const view: Listener = {
      events: (batch, upTo) => {
        const events = this.outerBatch(batch);
        if (events.length > 0 || batch.length === 0 || isWhole) listener.events(events, upTo);
      },
      ended: (error) => {
        this.subscriptions.delete(subscribed);
        listener.ended(error);
      },
      ...(listener.drained && { drained: () => listener.drained!() }),
    };
    const inner = this.inner.subscribe(
      {
        ...options,
        prefix: isWhole ? "/" : this.names.inner(options.prefix),
        ...(deferral && { deferral: this.outerDeferral(deferral) }),
      },
      view,
    );
    const subscribed = { inner, listener };
    this.subscriptions.add(subscribed);
    if (this.closed) queueMicrotask(() => this.end(subscribed));
    const close = (): void => {
      this.subscriptions.delete(subscribed);
      inner.close();
    };
    return {
      get position() {
        return inner.position;
      },
      sync: () => inner.sync(),
      close,
    };
  }

  private end(subscribed: { readonly inner: Subscription; readonly listener: Listener }): void {
    if (!this.subscriptions.delete(subscribed)) return;
    subscribed.inner.close();
    subscribed.listener.ended(closedError());
  }

  private outerDeferral(deferral: Deferral): Deferral {
    return { key: deferral.key, selects: (batch) => deferral.selects(this.outerBatch(batch)) };
  }

  private outerBatch(batch: readonly StoreEvent[]): readonly StoreEvent[] {
    const events: StoreEvent[] = [];
    for (const event of batch)
      if (event.key.startsWith(this.names.start)) events.push(this.outerEvent(event));
    return events;
  }

  private outerEvent(event: StoreEvent): StoreEvent {
    let outer = this.events.get(event);
    if (outer === undefined) {
      const { key, revision, entry, previous } = event;
      outer = {
        key: this.names.outer(key),
        revision,
        entry: entry && this.outer(entry),
        previous: previous && this.outer(previous),
      };
      this.events.set(event, outer);
    }
    return outer;
  }

  private outer(entry: Entry): Entry {
    if (!this.keepsEntries) return this.renamed(entry);
    let outer = this.entries.get(entry);
    if (outer === undefined) {
      outer = this.renamed(entry);
      this.entries.set(entry, outer);
    }
    return outer;
  }

  private renamed(entry: Entry): Entry {
    return { ...entry, key: this.names.outer(entry.key) };
  }

  private historyIn(history: StoreHistory): StoreHistory {
    const { names } = this;
    const outer = <T extends { readonly key: string }>(version: T): T => ({
      ...version,
      key: names.outer(version.key),
    });
    const page = async (read: ReturnType<StoreHistory["versions"]>) => {
      const { versions, next } = await read;
      return { versions: versions.map(outer), next };
    };
    const deletions: StoreHistory["deletions"] = async (prefix, { after, limit }) => {
      const start = after === undefined ? undefined : names.inner(after);
      const { versions, next } = await history.deletions(names.inner(prefix), { after: start, limit });
      return { versions: versions.map(outer), next: next && names.outer(next) };
    };
    return {
      keeps: (prefix) => history.keeps(names.inner(prefix)),
      floor: (prefix) => history.floor(names.inner(prefix)),
      versions: (key, options) => page(history.versions(names.inner(key), options)),
      deletions,
      changes: (prefix, options) => page(history.changes(names.inner(prefix), options)),
      revisionAt: (time) => history.revisionAt(time),
      forget: (start, ending) => history.forget(names.inner(start), ending),
    };
  }

  private assertOpen(): void {
    if (this.closed) throw closedError();
  }

  override async close(): Promise<void> {
    this.closed = true;
    await this.pending.settled();
    for (const subscribed of this.subscriptions) this.end(subscribed);
  }
}
