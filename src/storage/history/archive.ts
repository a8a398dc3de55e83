/** Reads of kept history; see `archive-keys.ts` and `archive-record.ts`. */
import { createYielder } from "../../base/turns/yielding.ts";
import { compareKeys } from "../keys.ts";
import { pagesOf } from "../range-pages.ts";
import type { Version, VersionOptions, VersionPage } from "../store-history.ts";
import {
  RevisionCompactedError,
  StoreValueError,
  type Entry,
  type RangeOptions,
  type RangePage,
  type Revision,
  type Store,
  type StoreEvent,
} from "../store.ts";
import {
  archivePrefix,
  descending,
  endOf,
  firstRecord,
  isArchiveKey,
  startOf,
  subjectOf,
} from "./archive-keys.ts";
import { decodeArchiveRecord, type ArchiveRecord } from "./archive-record.ts";
import type { OriginCodec } from "./origin-codec.ts";

/** Limits of the pages that are read from the store. */
const pageKeys = 200;
const pageBytes = 512 * 1024;
/** Number of records of one key after which a scan jumps to the next key. */
const recordsBeforeJump = 8;
/** Number of keys that one page of deletions looks at. */
const maxScannedKeys = 1000;

/** A record that is known by its key only. */
export interface RecordedChange {
  readonly recordKey: string;
  readonly revision: Revision;
}

/** The history of the keys in a store. */
export class Archive {
  constructor(
    private readonly store: Store,
    private readonly origins: OriginCodec,
  ) {}

  /** Returns the newest record of a key. */
  async newest(key: string): Promise<ArchiveRecord | undefined> {
    return this.firstRecord(key, startOf(key));
  }

  /** Returns the newest record of a key whose version before is at most `revision`: the one that a read at it needs. */
  private async recordAt(key: string, revision: Revision): Promise<ArchiveRecord | undefined> {
    return this.firstRecord(key, startOf(key) + descending(revision + 1));
  }

  private async firstRecord(key: string, after: string): Promise<ArchiveRecord | undefined> {
    const prefix = after.slice(0, after.lastIndexOf("/") + 1);
    const { entries } = await this.store.range({ prefix, after, limit: 1 });
    const [first] = entries;
    return first === undefined || subjectOf(first.key).key !== key ? undefined : decodeArchiveRecord(first);
  }

  /**
   * Returns the value of a key at a revision that is pinned or above the floor of its collection.
   *
   * @throws {RevisionCompactedError} the history has a gap there, or the value was too large to keep.
   */
  async valueAt(key: string, at: Revision, isPinned = false): Promise<Entry | undefined> {
    const current = await this.store.get(key);
    return current !== undefined && current.revision <= at ? current : this.pastValueAt(key, at, isPinned);
  }

  /** As {@link valueAt}, of a key whose current value is absent or newer. */
  private async pastValueAt(key: string, at: Revision, isPinned: boolean): Promise<Entry | undefined> {
    const record = await this.recordAt(key, at);
    if (record === undefined) return undefined;
    if (record.revision > at) {
      if (record.previous === 0) return undefined;
      if (record.value === undefined) throw new RevisionCompactedError(at, record.revision);
      return record.value;
    }
    // Of what is visible at a pin, each version that was superseded has a record; others may have none.
    if (record.deleted || isPinned) return undefined;
    // The version of the record was superseded by a write without a record.
    throw new RevisionCompactedError(at, record.revision);
  }

  /** Reads a page at a revision, as {@link Store.range}; see {@link valueAt}. */
  async rangeAt(options: RangeOptions, at: Revision, isPinned = false): Promise<RangePage> {
    const { limit = Infinity, maxBytes = Infinity } = options;
    const entries: Entry[] = [];
    const yieldIfDue = createYielder();
    let bytes = 0;
    for await (const { key, current } of this.keysWithPast(options.prefix, options.after)) {
      const isOld = current !== undefined && current.revision <= at;
      const entry = isOld ? current : await this.pastValueAt(key, at, isPinned);
      if (entry === undefined) continue;
      if (entries.length >= limit || (entries.length > 0 && bytes >= maxBytes))
        return { revision: at, entries, more: true };
      entries.push(entry);
      bytes += entry.body.length;
      await yieldIfDue();
    }
    return { revision: at, entries, more: false };
  }

  /** Yields the keys with a current value or a record, in order. */
  private async *keysWithPast(
    prefix: string,
    start: string | undefined,
  ): AsyncGenerator<{ readonly key: string; readonly current: Entry | undefined }> {
    for (let after = start; ;) {
      const page = withoutRecords(
        await this.store.range({ prefix, after, limit: pageKeys, maxBytes: pageBytes }),
      );
      const last = page.entries.at(-1)?.key;
      // A key that is deleted meanwhile has a record by now, because its collection is read afterwards.
      const archived = this.recordedKeys(prefix, after);
      let next = await archived.next();
      const isBefore = (key: string): boolean => next.done !== true && compareKeys(next.value.key, key) < 0;
      for (const current of page.entries) {
        for (; isBefore(current.key); next = await archived.next())
          yield { key: (next.value as ArchiveRecord).key, current: undefined };
        if (next.done !== true && next.value.key === current.key) next = await archived.next();
        yield { key: current.key, current };
      }
      if (page.more) {
        await archived.return(undefined);
        after = last;
        continue;
      }
      for (; next.done !== true; next = await archived.next())
        yield { key: next.value.key, current: undefined };
      return;
    }
  }

  /** Yields the newest record of each key under a prefix, from after a key, in the order of the keys. */
  private async *recordedKeys(prefix: string, start: string | undefined): AsyncGenerator<ArchiveRecord> {
    const records = recordsUnder(prefix);
    let after = start === undefined ? records.after : endOf(start);
    for (;;) {
      const options = { prefix: records.prefix, after, limit: pageKeys, maxBytes: pageBytes };
      const page = await this.store.range(options);
      let last: string | undefined;
      let ofLast = 0;
      for (const entry of page.entries) {
        const { key } = subjectOf(entry.key);
        after = entry.key;
        if (key === last && ++ofLast < recordsBeforeJump) continue;
        if (key === last) {
          after = endOf(key);
          break;
        }
        [last, ofLast] = [key, 1];
        yield decodeArchiveRecord(entry);
      }
      const isAtEnd = page.entries.at(-1)?.key === after;
      if (isAtEnd && !page.more) return;
      // A page can end within the records of a key.
      if (last !== undefined) after = endOf(last);
      if (page.entries.length === 0) return;
    }
  }

  /** @param floor versions below it are left out, but the one that was current at it. */
  async versions(key: string, { after, limit }: VersionOptions, floor: Revision): Promise<VersionPage> {
    const start = startOf(key);
    const prefix = start.slice(0, start.lastIndexOf("/") + 1);
    const versions: Version[] = [];
    let from = after ?? start;
    if (after === undefined) {
      const current = await this.store.get(key);
      const newest = await this.newest(key);
      if (current !== undefined && current.revision !== newest?.revision) versions.push(unrecorded(current));
    }
    let above: ArchiveRecord | undefined;
    for (;;) {
      const want = limit - versions.length;
      if (want <= 0) break;
      const page = await this.store.range({ prefix, after: from, limit: want, maxBytes: pageBytes });
      for (const entry of page.entries) {
        if (subjectOf(entry.key).key !== key)
          return { versions: withUnrecorded(versions, above), next: undefined };
        const record = decodeArchiveRecord(entry);
        if (above !== undefined && above.previous !== record.revision)
          versions.push(...unrecordedBefore(above));
        versions.push(await this.versionOf(record));
        if (record.revision <= floor) return { versions, next: undefined };
        from = entry.key;
        above = record;
      }
      if (!page.more) return { versions: withUnrecorded(versions, above), next: undefined };
    }
    if (above === undefined) return { versions, next: from };
    const below = await this.firstRecord(key, from);
    if (below === undefined) return { versions: withUnrecorded(versions, above), next: undefined };
    const isNext = below.revision === above.previous;
    return { versions: isNext ? versions : withUnrecorded(versions, above), next: from };
  }

  async deletions(prefix: string, { after, limit }: VersionOptions, floor: Revision): Promise<VersionPage> {
    const versions: Version[] = [];
    const yieldIfDue = createYielder();
    let scanned = 0;
    for await (const record of this.recordedKeys(prefix, after)) {
      if (record.deleted && record.revision > floor && (await this.store.get(record.key)) === undefined)
        versions.push(await this.versionOf(record));
      if (versions.length >= limit || ++scanned >= maxScannedKeys) return { versions, next: record.key };
      await yieldIfDue();
    }
    return { versions, next: undefined };
  }

  async changes(prefix: string, { after, limit }: VersionOptions, floor: Revision): Promise<VersionPage> {
    const records = archivePrefix(prefix);
    const { entries, more } = await this.store.range({ prefix: records, after, limit, maxBytes: pageBytes });
    const versions: Version[] = [];
    for (const entry of entries) {
      const record = decodeArchiveRecord(entry);
      if (record.revision > floor) versions.push(await this.versionOf(record));
    }
    return { versions, next: more ? entries.at(-1)?.key : undefined };
  }

  /** Yields the changes of the keys under a prefix, in the order of the keys. */
  async *recordedChanges(prefix: string): AsyncGenerator<RecordedChange> {
    const records = { prefix: archivePrefix(prefix), limit: pageKeys, maxBytes: pageBytes };
    for await (const { entries } of pagesOf(this.store, records))
      for (const { key, revision } of entries) yield { recordKey: key, revision };
  }

  /**
   * Returns the event of a change.
   *
   * @throws {RevisionCompactedError} its values are no longer kept.
   */
  async eventOf({ recordKey, revision }: RecordedChange): Promise<StoreEvent> {
    const entry = await this.store.get(recordKey);
    const record = entry?.revision === revision ? decodeArchiveRecord(entry) : undefined;
    if (record === undefined || (record.previous !== 0 && record.value === undefined))
      throw new RevisionCompactedError(revision, revision);
    const { key, deleted, value } = record;
    return { key, revision, entry: deleted ? undefined : await this.valueAt(key, revision), previous: value };
  }

  private async versionOf(record: ArchiveRecord): Promise<Version> {
    const { key, revision, deleted, previous, origin } = record;
    try {
      const decoded = origin === undefined ? undefined : await this.origins.decode(origin);
      return { key, revision, deleted, previous, origin: decoded };
    } catch (error) {
      if (error instanceof RangeError) throw new StoreValueError(key, error.message);
      throw error;
    }
  }
}

/** Where the records of the keys under a prefix begin. */
function recordsUnder(prefix: string): { readonly prefix: string; readonly after: string | undefined } {
  if (prefix === "/") return { prefix, after: firstRecord };
  return { prefix: archivePrefix(prefix), after: undefined };
}

/** A page of all keys without those of the history, which are the last ones. */
export function withoutRecords(page: RangePage): RangePage {
  const { entries } = page;
  const last = entries.at(-1);
  if (last === undefined || !isArchiveKey(last.key)) return page;
  return { ...page, entries: entries.filter(({ key }) => !isArchiveKey(key)), more: false };
}

/** Adds the version before a record, whose write has no record. */
function withUnrecorded(versions: readonly Version[], above: ArchiveRecord | undefined): Version[] {
  return [...versions, ...unrecordedBefore(above)];
}

function unrecordedBefore(above: ArchiveRecord | undefined): Version[] {
  return above?.value === undefined ? [] : [unrecorded(above.value)];
}

/** The version of a value whose write has no record. */
function unrecorded({ key, revision }: Entry): Version {
  return { key, revision, deleted: false, previous: 0, origin: undefined };
}
