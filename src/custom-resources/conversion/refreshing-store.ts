import { jsonOf } from "../../base/json/value.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { mapInTurns } from "../../base/turns/yielding.ts";
import { fillMembers } from "../../schema/custom/fill.ts";
import { decode, TypeFault } from "../../schema/decode.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type {
  CommitResult,
  Entry,
  RangeOptions,
  RangePage,
  Revision,
  Store,
  Subscription,
  TransactionResult,
  Write,
} from "../../storage/store.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import { entryWith } from "../../storage/entry.ts";
import { StoreView } from "../../storage/store-view.ts";
import type { DefinitionWatches } from "./definition-watches.ts";
import { decodeLive, encodeObject } from "../../resources/objects/stored.ts";
import type { VersionedStore, WatchSource } from "../../resources/registry/versioned-storage.ts";
import {
  shownEntry,
  withShown,
  type WatchChange,
  type WatchObserver,
} from "../../resources/registry/watch-change.ts";

/** Maximum number of entries that are decoded synchronously; between more entries other requests can run. */
const entriesAtOnce = 8;

/**
 * A store with the objects of a custom kind as the current schema reads them: with defaults that were added after they were written, and
 * without fields that the schema no longer has. The stored bytes change with the next write of the object.
 *
 * Only objects with an older revision than the definition are decoded: objects with a newer one were validated with the current schema.
 */
export class RefreshingStore extends StoreView implements VersionedStore {
  /** Entries that are stored differently, so that an update without changes stores them again. */
  private readonly outdated = new WeakSet<Entry>();
  private readonly shownChanges = new WeakMap<readonly WatchChange[], readonly WatchChange[]>();
  /** By the stored entries, so that a page that several lists share is decoded once. */
  private readonly shownPages = new WeakMap<readonly Entry[], MaybePromise<readonly Entry[]>>();

  /**
   * @param resource in the storage version.
   * @param since revision of the definition.
   * @param watches those of the definition.
   * @param converts whether a webhook converts the versions of the definition.
   */
  constructor(
    inner: Store,
    private readonly resource: Resource,
    private readonly since: Revision,
    private readonly watches: DefinitionWatches,
    private readonly converts: boolean,
  ) {
    super(inner);
  }

  get(key: string, at?: Revision): MaybePromise<Entry | undefined> {
    const stored = this.inner.get(key, at);
    if (!key.startsWith(this.resource.storePrefix)) return stored;
    return andThen(stored, (entry) => entry && this.show(entry));
  }

  range(options: RangeOptions): MaybePromise<RangePage> {
    const read = this.inner.range(options);
    if (!options.prefix.startsWith(this.resource.storePrefix)) return read;
    return andThen(read, (page) =>
      andThen(this.showAll(page.entries), (entries) =>
        entries === page.entries ? page : { ...page, entries },
      ),
    );
  }

  async commit(write: Write): Promise<CommitResult> {
    const result = await this.inner.commit(write);
    if (!write.key.startsWith(this.resource.storePrefix)) return result;
    if (result.ok) return { ...result, entry: this.show(result.entry) };
    return result.current === undefined ? result : { ...result, current: this.show(result.current) };
  }

  async transact(writes: readonly Write[]): Promise<TransactionResult> {
    const result = await this.inner.transact(writes);
    if (result.ok) return { ...result, entries: result.entries.map((entry) => this.showOwn(entry)) };
    return result.current === undefined ? result : { ...result, current: this.showOwn(result.current) };
  }

  private showOwn(entry: Entry): Entry {
    return entry.key.startsWith(this.resource.storePrefix) ? this.show(entry) : entry;
  }

  isOutdated(entry: Entry): boolean {
    return this.outdated.has(entry);
  }

  watch(source: WatchSource, observer: WatchObserver, after: Revision): Subscription {
    const convertingObserver: WatchObserver = {
      changes: (changes, upTo) => observer.changes(this.showChanges(changes), upTo),
      ended: (error) => observer.ended(error),
      ...(observer.drained === undefined ? {} : { drained: () => observer.drained!() }),
    };
    return this.watches.watch(source, convertingObserver, after);
  }

  /** As {@link VersionedStore.showAll}; yields to other requests if there are many entries. */
  showAll(entries: readonly Entry[]): MaybePromise<readonly Entry[]> {
    if (this.isCurrent(entries)) return entries;
    let shown = this.shownPages.get(entries);
    if (shown === undefined) {
      shown = entries.length <= entriesAtOnce ? this.showAtOnce(entries) : this.showInTurns(entries);
      this.shownPages.set(entries, shown);
    }
    return shown;
  }

  private showAtOnce(entries: readonly Entry[]): readonly Entry[] {
    return sameUnlessShown(
      entries,
      entries.map((entry) => this.show(entry)),
    );
  }

  private async showInTurns(entries: readonly Entry[]): Promise<readonly Entry[]> {
    return sameUnlessShown(entries, await mapInTurns(entries, (entry) => this.show(entry)));
  }

  /** Changes of a watch with the objects as the schema reads them; watches that share changes get the same array. */
  private showChanges(changes: readonly WatchChange[]): readonly WatchChange[] {
    const entries = changes.map(shownEntry);
    if (this.isCurrent(entries)) return changes;
    let shown = this.shownChanges.get(changes);
    if (shown === undefined) {
      shown = changes.map((change, index) => withShown(change, this.show(entries[index]!)));
      this.shownChanges.set(changes, shown);
    }
    return shown;
  }

  /** Whether all entries were written with the definition. */
  private isCurrent(entries: readonly Entry[]): boolean {
    return entries.every((entry) => this.isWrittenWithDefinition(entry));
  }

  /** False also if a request that began before the definition was replaced may see objects that were written with the next one. */
  private isWrittenWithDefinition({ revision }: Entry): boolean {
    return revision > this.since && !this.watches.replaced;
  }

  /** An entry as the schema reads it; the same entry if it doesn't differ. */
  private show(entry: Entry): Entry {
    const { open } = this.resource.kind.type;
    if (open === undefined || this.isWrittenWithDefinition(entry)) return entry;
    // Conversion from another version fills in the defaults.
    if (this.converts && !this.isInVersion(entry)) return entry;
    const { object, managed } = decodeLive(entry);
    const read = pruned(this.resource, object);
    // Writes check the size of the encoded object; reads must not fail for it.
    void fillMembers(open, jsonOf(read));
    const shown = entryWith(entry, encodeObject(this.resource, read, managed.stored));
    if (Buffer.compare(shown.body, entry.body) === 0) return entry;
    this.outdated.add(shown);
    return shown;
  }

  private isInVersion({ body }: Entry): boolean {
    const { bodyPrefix } = this.resource;
    return bodyPrefix.equals(body.subarray(0, bodyPrefix.length));
  }
}

/** The same array if none of the entries differs. */
function sameUnlessShown(entries: readonly Entry[], shown: readonly Entry[]): readonly Entry[] {
  return shown.every((entry, index) => entry === entries[index]) ? entries : shown;
}

/** Drops fields that the schema doesn't have. Objects that can't be decoded, because an older schema allowed other types, stay as they are. */
function pruned({ kind }: Resource, object: ApiObject): ApiObject {
  try {
    return decode(kind.type, object).value as ApiObject;
  } catch (error) {
    if (!(error instanceof TypeFault)) throw error;
    return object;
  }
}
