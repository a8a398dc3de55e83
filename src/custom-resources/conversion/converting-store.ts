import { jsonOf } from "../../base/json/value.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import { fillMembers } from "../../schema/custom/fill.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type {
  CommitResult,
  Draft,
  Entry,
  RangeOptions,
  RangePage,
  Revision,
  Subscription,
  TransactionResult,
  Write,
  StoreError,
} from "../../storage/store.ts";
import type { VersionedStore, WatchSource } from "../../resources/registry/versioned-storage.ts";
import {
  type WatchObserver,
  shownEntry,
  withShown,
  type WatchChange,
} from "../../resources/registry/watch-change.ts";
import { convertAll, type ObjectConverter } from "./object-converter.ts";
import type { RefreshingStore } from "./refreshing-store.ts";
import { checkSize, asBuffer, decodeBody, encodeObject } from "../../resources/objects/stored.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import { entryWith } from "../../storage/entry.ts";
import { StoreView } from "../../storage/store-view.ts";
import { StatusError } from "../../base/status-error.ts";

/**
 * A store with the objects of a custom kind in one of its versions: it converts them when they are read and written. Subscriptions are
 * not converted, watches are (`converted-watch.ts`).
 *
 * Reads throw a StatusError if an object can't be converted.
 */
export class ConvertingStore extends StoreView implements VersionedStore {
  /** Entries that are not stored in the storage version, so that an update without changes stores them again. */
  private readonly outdated = new WeakSet<Entry>();

  /**
   * @param resource in the version of this store.
   * @param stored in the storage version.
   */
  constructor(
    private readonly current: RefreshingStore,
    private readonly resource: Resource,
    private readonly stored: Resource,
    private readonly converter: ObjectConverter,
  ) {
    super(current);
  }

  get(key: string, at?: Revision): MaybePromise<Entry | undefined> {
    const read = this.inner.get(key, at);
    if (!this.isConverted(key)) return read;
    return andThen(read, (entry) => (entry === undefined ? undefined : this.show(entry)));
  }

  range(options: RangeOptions): MaybePromise<RangePage> {
    const read = this.inner.range(options);
    if (!this.isConverted(options.prefix)) return read;
    return andThen(read, (page) =>
      andThen(this.showAll(page.entries), (entries) =>
        entries === page.entries ? page : { ...page, entries },
      ),
    );
  }

  isOutdated(entry: Entry): boolean {
    return this.outdated.has(entry);
  }

  watch(source: WatchSource, observer: WatchObserver, after: Revision): Subscription {
    return new ConvertedWatch(this, observer, after).start((inner) =>
      this.current.watch(source, inner, after),
    );
  }

  /** Returns an entry in the version of this store; the same entry if it is stored in this version. */
  private show(entry: Entry): MaybePromise<Entry> {
    return andThen(this.showAll([entry]), ([shown]) => shown!);
  }

  showAll(entries: readonly Entry[]): MaybePromise<readonly Entry[]> {
    if (!entries.some((entry) => !isIn(entry, this.stored) || this.stored !== this.resource)) return entries;
    for (const entry of entries) if (!isIn(entry, this.stored)) this.outdated.add(entry);
    return entries.every((entry) => isIn(entry, this.resource)) ? entries : this.convert(entries);
  }

  async commit(write: Write): Promise<CommitResult> {
    const form = await this.formOf(write);
    if (form === undefined) return this.inner.commit(write);
    const result = await this.inner.commit({ ...write, draft: form.stored } as Write);
    return result.ok ? { ...result, entry: entryWith(result.entry, form.shown) } : result;
  }

  async transact(writes: readonly Write[]): Promise<TransactionResult> {
    const forms: (DraftForms | undefined)[] = [];
    for (const write of writes) forms.push(await this.formOf(write));
    const stored = writes.map((write, index) => {
      const form = forms[index];
      return form === undefined ? write : ({ ...write, draft: form.stored } as Write);
    });
    const result = await this.inner.transact(stored);
    if (!result.ok) return result;
    const entries = result.entries.map((entry, index) => {
      const form = forms[index];
      return form === undefined ? entry : entryWith(entry, form.shown);
    });
    return { ...result, entries };
  }

  /** The forms of the draft of a write; undefined if it is stored as it is. */
  private formOf(write: Write): MaybePromise<DraftForms | undefined> {
    if (write.kind === "delete" || !this.isConverted(write.key) || this.stored === this.resource)
      return undefined;
    return this.storedForm(write.draft);
  }

  /** Converts a draft to the storage version and back before the write, so that no conversion can fail after it. */
  private async storedForm(draft: Draft): Promise<DraftForms> {
    const object = decodeBody(draft.body);
    // It is empty in a draft.
    delete object.metadata.resourceVersion;
    const [converted] = await this.inVersion([object], this.stored);
    const stored = encodeObject(this.stored, converted!);
    checkSize(stored);
    const [shown] = await this.inVersion([decodeBody(stored.body)], this.resource);
    return { stored, shown: encodeObject(this.resource, shown!) };
  }

  private async convert(entries: readonly Entry[]): Promise<readonly Entry[]> {
    const yieldIfDue = createYielder();
    const objects = [];
    for (const entry of entries) {
      objects.push(decodeBody(entry.body));
      await yieldIfDue();
    }
    const converted = await this.inVersion(objects, this.resource);
    const shown: Entry[] = [];
    for (const [index, entry] of entries.entries()) {
      const one = isIn(entry, this.resource)
        ? entry
        : entryWith(entry, encodeObject(this.resource, converted[index]!));
      if (this.outdated.has(entry)) this.outdated.add(one);
      shown.push(one);
      await yieldIfDue();
    }
    return shown;
  }

  /** Converts objects to a version and fills in its defaults. */
  private async inVersion(objects: readonly ApiObject[], resource: Resource): Promise<readonly ApiObject[]> {
    const converted = await convertAll(this.converter, objects, resource);
    const { open } = resource.kind.type;
    if (open !== undefined) {
      // Writes check the size of the encoded object; reads must not fail for it.
      for (const object of converted) void fillMembers(open, jsonOf(object));
    }
    return converted;
  }

  private isConverted(key: string): boolean {
    return key.startsWith(this.resource.storePrefix);
  }
}

/** A draft in the storage version, and in the version of the store. */
interface DraftForms {
  readonly stored: Draft;
  readonly shown: Draft;
}

/** Whether an entry is in the version of a resource type, by the first bytes of its body. */
function isIn({ body }: Entry, { bodyPrefix }: Resource): boolean {
  const { length } = bodyPrefix;
  return body.length >= length && bodyPrefix.compare(asBuffer(body), 0, length) === 0;
}

/** Maximum size of the objects that wait for their conversion, in bytes; above it the watch ends. */
const maxWaitingBytes = 8 * 1024 * 1024;

type EntryView = Pick<VersionedStore, "showAll">;

/**
 * A watch that shows objects in the version of a store, in the order of the changes. Later changes wait until earlier ones are converted;
 * a failed conversion ends the watch, and so do more than {@link maxWaitingBytes} bytes of waiting objects.
 */
export class ConvertedWatch implements Subscription {
  private inner: Subscription | undefined;
  private ended = false;
  private waitingBytes = 0;
  /** Delivery of all received changes; undefined if none waits. */
  private work: Promise<void> | undefined;

  /** @param delivered every change up to here has been delivered; at first the revision after which the watch begins. */
  constructor(
    private readonly store: EntryView,
    private readonly observer: WatchObserver,
    private delivered: Revision,
  ) {}

  get position(): Revision {
    const { delivered, inner } = this;
    if (this.ended || this.work !== undefined || inner === undefined || inner.position <= delivered)
      return delivered;
    return inner.position;
  }

  start(source: WatchSource): this {
    this.inner = source({
      changes: (changes, upTo) => this.receive(changes, upTo),
      ended: (error) => this.end(error),
      drained: async () => {
        await this.work;
        await this.observer.drained?.();
      },
    });
    if (this.ended) this.inner.close();
    return this;
  }

  async sync(): Promise<Revision> {
    await this.inner?.sync();
    await this.work;
    return this.position;
  }

  close(): void {
    // Changes that wait for their conversion aren't delivered any more.
    this.delivered = this.position;
    this.ended = true;
    this.inner?.close();
  }

  private receive(changes: readonly WatchChange[], upTo: Revision): void {
    if (this.ended) return;
    const shown = this.work === undefined ? showChanges(this.store, changes) : undefined;
    if (shown !== undefined && !(shown instanceof Promise)) return this.deliver(shown, upTo);
    const bytes = changes.reduce((sum, change) => sum + shownEntry(change).body.length, 0);
    this.waitingBytes += bytes;
    if (this.waitingBytes > maxWaitingBytes) {
      return this.end(
        new StatusError("Timeout", "the changes come faster than the conversion webhook converts them"),
      );
    }
    const work = this.convert(this.work, shown, changes, upTo)
      .catch((error: unknown) => this.end(error))
      .finally(() => {
        this.waitingBytes -= bytes;
        if (this.work === work) this.work = undefined;
      });
    this.work = work;
  }

  private async convert(
    previous: Promise<void> | undefined,
    started: Promise<readonly WatchChange[]> | undefined,
    changes: readonly WatchChange[],
    upTo: Revision,
  ): Promise<void> {
    await previous;
    // A started conversion is always awaited; otherwise its failure would be an unhandled rejection.
    if (this.ended && started === undefined) return;
    const shown = await (started ?? showChanges(this.store, changes));
    if (!this.ended) this.deliver(shown, upTo);
  }

  private deliver(changes: readonly WatchChange[], upTo: Revision): void {
    this.delivered = upTo;
    this.observer.changes(changes, upTo);
  }

  private end(error: unknown): void {
    if (this.ended) return;
    this.close();
    this.observer.ended(error as StoreError);
  }
}

/** Converted changes by the stored ones; watches of the same selection share them. */
const shared = new WeakMap<EntryView, WeakMap<readonly WatchChange[], Promise<readonly WatchChange[]>>>();

function showChanges(
  store: EntryView,
  changes: readonly WatchChange[],
): MaybePromise<readonly WatchChange[]> {
  if (changes.length === 0) return changes;
  let cache = shared.get(store);
  if (cache === undefined) shared.set(store, (cache = new WeakMap()));
  const cached = cache.get(changes);
  if (cached !== undefined) return cached;
  const entries = changes.map(shownEntry);
  const shown = store.showAll(entries);
  if (!(shown instanceof Promise)) return changes;
  const converted = shown.then((all) => changes.map((change, index) => withShown(change, all[index]!)));
  cache.set(changes, converted);
  return converted;
}
