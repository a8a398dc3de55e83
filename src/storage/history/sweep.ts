/** Drops kept history that is older or larger than its collection's limits. */
import { nextTurn } from "../../base/turns/yielding.ts";
import { revisionOf } from "../entry.ts";
import { prefixEnd } from "../keys.ts";
import type { CollectionRetention } from "../store-history.ts";
import type { Entry, Revision, Store, Write } from "../store.ts";
import type { Pins } from "./pins.ts";
import { decodeArchiveRecord } from "./archive-record.ts";
import {
  archivePrefix,
  archiveStart,
  collectionOf,
  firstRecord,
  isArchiveKey,
  subjectOf,
} from "./archive-keys.ts";

/** Limits of one run: what remains is for the next one, so that the cost of a second is bounded. */
const maxRunBytes = 32 * 1024 * 1024;
const pageKeys = 200;
const pageBytes = 256 * 1024;
/** Number of records that one transaction deletes. */
const maxDeletes = 50;
/** Attempts to drop a page of records that others change. */
const maxAttempts = 10;
/** Number of intervals of revisions by which sizes are counted. */
const intervals = 1024;

/** What a sweep needs to know. */
export interface SweepLimits {
  /** The limits of a collection; undefined if it isn't kept any more. */
  retentionOf(collection: string): CollectionRetention | undefined;
  floor(collection: string): Promise<Revision>;
  /** Absent without pins. */
  readonly pins?: Pins | undefined;
  /** Raises the floor of a collection. */
  raise(collection: string, floor: Revision): Promise<void>;
}

/** The sizes of the records of one collection, by their age. */
class Sizes {
  total = 0;
  private readonly bytes = new Map<number, number>();
  private readonly width: number;

  constructor(latest: Revision) {
    this.width = Math.ceil(latest / intervals) + 1;
  }

  add(revision: Revision, bytes: number): void {
    const interval = Math.floor(revision / this.width);
    this.bytes.set(interval, (this.bytes.get(interval) ?? 0) + bytes);
    this.total += bytes;
  }

  /** Returns the revision up to which the oldest records must go, so that the others have at most this size. */
  cutFor(maxBytes: number): Revision {
    let rest = this.total;
    let cut = 0;
    for (const [interval, bytes] of [...this.bytes].toSorted(([a], [b]) => a - b)) {
      if (rest <= maxBytes) break;
      rest -= bytes;
      cut = (interval + 1) * this.width - 1;
    }
    return revisionOf(cut);
  }
}

/** Goes through the records of all collections again and again. */
export class Sweep {
  /** The last record that was looked at. */
  private after: string | undefined;
  private collection: string | undefined;
  private sizes: Sizes | undefined;
  constructor(
    private readonly store: Store,
    private readonly limits: SweepLimits,
  ) {}

  /** Looks at records up to a bounded size. Returns whether it has come to the end of the last collection. */
  async run(): Promise<boolean> {
    for (let bytes = 0; bytes < maxRunBytes;) {
      const page = await this.page();
      if (page === undefined) return true;
      for (const { body } of page) bytes += body.length;
      await nextTurn();
    }
    return false;
  }

  /** Handles the next page; undefined after the last one. */
  private async page(): Promise<readonly Entry[] | undefined> {
    this.collection ??= await this.nextCollection(undefined);
    if (this.collection === undefined) return undefined;
    const { collection } = this;
    this.sizes ??= new Sizes(await this.store.latestRevision());
    const prefix = archivePrefix(collection);
    const page = await this.store.range({ prefix, after: this.after, limit: pageKeys, maxBytes: pageBytes });
    await this.drop(collection, page.entries);
    this.after = page.entries.at(-1)?.key ?? this.after;
    if (page.more) return page.entries;
    await this.finish(collection, this.sizes);
    this.collection = await this.nextCollection(collection);
    [this.after, this.sizes] = [undefined, undefined];
    return this.collection === undefined ? undefined : page.entries;
  }

  /** Returns the first collection with records after another one. */
  private async nextCollection(last: string | undefined): Promise<string | undefined> {
    const after = last === undefined ? firstRecord : prefixEnd(archivePrefix(last));
    const { entries } = await this.store.range({ prefix: "/", after, limit: 1 });
    const key = entries[0]?.key;
    return key === undefined || !isArchiveKey(key)
      ? undefined
      : collectionOf(`/${key.slice(archiveStart.length)}`);
  }

  private async drop(collection: string, records: readonly Entry[]): Promise<void> {
    const isKept = this.limits.retentionOf(collection) !== undefined;
    const floor = isKept ? await this.limits.floor(collection) : Infinity;
    for (const { revision, body } of records) if (revision > floor) this.sizes!.add(revision, body.length);
    await this.dropUpTo(floor, records);
  }

  /** Deletes the records of all keys that begin with a text, except those of pinned values. */
  async forget(start: string, ending: AbortSignal | undefined): Promise<void> {
    const first = archivePrefix(start);
    let attempts = 0;
    for (let after = first; ending?.aborted !== true;) {
      const { entries } = await this.store.range({
        prefix: "/",
        after,
        limit: pageKeys,
        maxBytes: pageBytes,
      });
      const records = entries.filter(({ key }) => key.startsWith(first));
      const isDropped = await this.dropUpTo(Infinity, records);
      await nextTurn();
      if (!isDropped && ++attempts < maxAttempts) continue;
      if (records.length === 0 || records.length < entries.length) return;
      after = records.at(-1)!.key;
      attempts = 0;
    }
  }

  /** Deletes records up to a revision that aren't pinned. Returns false if some have to be looked at again. */
  private async dropUpTo(floor: number, records: readonly Entry[]): Promise<boolean> {
    const { pins } = this.limits;
    const maxWrites = Math.min(maxDeletes, this.store.transactionLimits.writes);
    let deletes: Write[] = [];
    let isComplete = true;
    for (const record of records) {
      const { key, revision } = record;
      if (revision > floor || hasPinnedValue(record, pins)) continue;
      deletes.push({ kind: "delete", key, expected: revision });
      if (deletes.length < maxWrites) continue;
      isComplete = (await this.delete(deletes)) && isComplete;
      deletes = [];
    }
    return (deletes.length === 0 || (await this.delete(deletes))) && isComplete;
  }

  /** Deletes records. If another process has changed them, or the pins, they are left for the next round, and the result is false. */
  private async delete([first, ...others]: readonly Write[]): Promise<boolean> {
    const { pins } = this.limits;
    const conditions = pins && [pins.condition];
    const result = await this.store.transact([{ ...first!, conditions }, ...others]);
    if (!result.ok) await pins?.load();
    return result.ok;
  }

  private async finish(collection: string, sizes: Sizes): Promise<void> {
    const maxBytes = this.limits.retentionOf(collection)?.bytes;
    if (maxBytes === undefined || sizes.total <= maxBytes) return;
    await this.limits.raise(collection, sizes.cutFor(maxBytes));
  }
}

/** Whether the value that a record supersedes was visible at a pin. A record of a create supersedes none. */
function hasPinnedValue(record: Entry, pins: Pins | undefined): boolean {
  const { key, revision } = record;
  return (
    pins?.isBetween(subjectOf(key).before, revision - 1) === true &&
    decodeArchiveRecord(record).previous !== 0
  );
}
