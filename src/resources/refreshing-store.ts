import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import type { JsonObject } from "../base/json/value.ts";
import { turnGiver } from "../base/turns.ts";
import { fillMembers } from "../schema/custom/fill.ts";
import { decode, TypeFault } from "../schema/decode.ts";
import type { ApiObject } from "../schema/kind.ts";
import type {
  CommitResult,
  Entry,
  RangeOptions,
  RangePage,
  Revision,
  Store,
  Write,
} from "../storage/store.ts";
import type { Resource } from "./registry.ts";
import { entryWith, StoreView } from "./store-view.ts";
import { decodeLive, encodeObject } from "./stored.ts";
import { shownEntry, withShown, type WatchChange } from "./watch-change.ts";

/** So few entries are read in one go. */
const entriesAtOnce = 8;

/**
 * A store in which the objects of a custom kind are as its present schema reads them: with the defaults that were added since
 * they were written, and without members that it no longer has. The stored bytes change with the next write of the object.
 *
 * Only objects that are older than the definition are read for that; a change of the definition is later on the revision line
 * than the objects that were checked by the schema of before.
 */
export class RefreshingStore extends StoreView {
  /** Entries that differ from what is stored, so that a write of the same makes a difference. */
  private readonly outdated = new WeakSet<Entry>();
  private readonly shownChanges = new WeakMap<readonly WatchChange[], readonly WatchChange[]>();
  /** By the entries as they are stored: pages that lists share are read by the schema once. */
  private readonly shownPages = new WeakMap<readonly Entry[], MaybePromise<readonly Entry[]>>();

  /**
   * @param resource in the version in which the objects are stored.
   * @param since revision of the definition.
   */
  constructor(
    inner: Store,
    private readonly resource: Resource,
    private readonly since: number,
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

  /** Whether an entry that was read here is stored otherwise. */
  isOutdated(entry: Entry): boolean {
    return this.outdated.has(entry);
  }

  /** Entries as the schema reads them; the same array where none differs. Many are read in turns. */
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
    const giveTurn = turnGiver();
    const shown: Entry[] = [];
    for (const entry of entries) {
      shown.push(this.show(entry));
      await giveTurn();
    }
    return sameUnlessShown(entries, shown);
  }

  /** Changes of a watch as the schema reads the objects; the same array for all watchers that share the changes. */
  showChanges(changes: readonly WatchChange[]): readonly WatchChange[] {
    const entries = changes.map(shownEntry);
    if (this.isCurrent(entries)) return changes;
    let shown = this.shownChanges.get(changes);
    if (shown === undefined) {
      shown = changes.map((change, index) => withShown(change, this.show(entries[index]!)));
      this.shownChanges.set(changes, shown);
    }
    return shown;
  }

  /** Whether all entries were written after the schema changed. */
  private isCurrent(entries: readonly Entry[]): boolean {
    return entries.every(({ revision }) => revision > this.since);
  }

  /** An entry as the schema reads it; the same one where it doesn't differ. */
  show(entry: Entry): Entry {
    const { type, custom } = this.resource.kind;
    const { open } = type;
    if (entry.revision > this.since || open === undefined) return entry;
    // What a webhook converts from another version gets its defaults then.
    if (custom?.converter !== undefined && !this.isInVersion(entry)) return entry;
    const { object, managed } = decodeLive(entry);
    const read = pruned(this.resource, object);
    // What gets too large is refused when it is written; what is read stays readable.
    void fillMembers(open, read as unknown as JsonObject);
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

/** The entries themselves where none is shown otherwise. */
function sameUnlessShown(entries: readonly Entry[], shown: readonly Entry[]): readonly Entry[] {
  return shown.every((entry, index) => entry === entries[index]) ? entries : shown;
}

/** An object without what its schema doesn't know. One that can't be read as the kind, which its schema allowed once, stays. */
function pruned({ kind }: Resource, object: ApiObject): ApiObject {
  try {
    return decode(kind.type, object).value as ApiObject;
  } catch (error) {
    if (!(error instanceof TypeFault)) throw error;
    return object;
  }
}
