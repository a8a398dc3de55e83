import type { Clock, Timer } from "../../base/time/clock.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { Entry, RangeOptions, RangePage, Revision, Store } from "../../storage/store.ts";
import { CachedCollection, type CachedPage, type CollectionLimits } from "./cached-collection.ts";
import { stretchOf, type ItemForm } from "./joined-bodies.ts";
import type { StretchForms } from "./page-forms.ts";

/** A page of a collection. */
export interface CollectionPage extends RangePage {
  /** The items as one buffer in the requested form, each after a comma; undefined if they aren't cached in this form. */
  readonly joined: Buffer | undefined;
  /** Cache of other forms of the page; absent if the page isn't cached. */
  readonly forms?: StretchForms | undefined;
  /** The cached page with the entries, which begin at index `from`; absent if the page isn't cached or was just read. */
  readonly segment?:
    { readonly entries: readonly Entry[]; readonly forms: StretchForms; readonly from: number } | undefined;
}

/** The requested page; see {@link RangeOptions}. */
export type PageRequest = Required<Pick<RangeOptions, "prefix" | "maxBytes">> &
  Omit<RangeOptions, "prefix" | "maxBytes"> & {
    /** The form of the items; always the same for a collection. */
    readonly form: ItemForm;
    /** Whether the page is cached, asked when it has been read; by default it is. Caching takes as long as reading. */
    readonly isCached?: (() => MaybePromise<boolean>) | undefined;
  };

/** Limits of the cache, in bytes of bodies and their other forms. */
export interface PageCacheLimits extends CollectionLimits {
  readonly totalBytes: number;
}

const mebibyte = 1024 * 1024;
const leastTotalBytes = 64 * mebibyte;
const mostTotalBytes = 256 * mebibyte;
/** The cache takes at most this part of the memory. */
const memoryPart = 1 / 32;

/**
 * Returns the limits of the cache of a process.
 *
 * @param memoryBytes memory that the process may use.
 */
export function pageCacheLimits(memoryBytes: number): PageCacheLimits {
  const totalBytes = Math.min(mostTotalBytes, Math.max(leastTotalBytes, memoryBytes * memoryPart));
  return {
    totalBytes,
    collectionBytes: totalBytes * (3 / 4),
    bodyBytes: totalBytes * (7 / 16),
    windowBytes: 16 * mebibyte,
  };
}

/** A collection that wasn't read for this time is dropped. */
const idleMs = 5 * 60_000;
/** Interval of dropping unused collections. */
const sweepMs = 60_000;

/**
 * Cache of the pages of recently listed collections, so that a list of an unchanged collection costs no more than sending it. The first
 * event for a key drops the page of the key, so results are always those of the store. Bounded in bytes; evicts the least recently used
 * collections, and those that aren't read for some minutes.
 */
export class PageCache {
  /** By prefix, least recently used first. */
  private readonly collections = new Map<string, CachedCollection>();
  /** Whether the store is local. The cache is off for remote stores, where its check would cost as much as reading the page. */
  private isLocal: boolean | undefined;
  private timer: Timer | undefined;

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    private readonly limits: PageCacheLimits = pageCacheLimits(0),
  ) {}

  /** Reads a page as {@link Store.range} does, with the same errors. */
  read(request: PageRequest): MaybePromise<CollectionPage> {
    const latest = this.isLocal === false ? undefined : this.store.latestRevision();
    this.isLocal ??= !(latest instanceof Promise);
    if (latest === undefined || latest instanceof Promise) {
      // Awaited for its failure only.
      return andThen(latest, () =>
        andThen(this.store.range(request), (page) => ({ ...page, joined: undefined })),
      );
    }
    const collection = this.collection(request, latest);
    return andThen(collection.sync(), (position) => {
      const at = request.at ?? position;
      // Revisions that are compacted, or not yet received, are read from the store.
      const isCovered = at <= position && at >= (this.store.floor() as Revision);
      const cached = isCovered ? collection.find(request.after, at) : undefined;
      if (cached !== undefined) {
        return andThen(cached.more ?? this.follows(cached, at, request), (more) =>
          cut({ ...cached, more }, at, request),
        );
      }
      return andThen(this.store.range(request), (page) =>
        andThen(request.isCached?.() ?? true, (isCached) =>
          isCached ? this.insertIfSmall(collection, request, page) : { ...page, joined: undefined },
        ),
      );
    });
  }

  close(): void {
    this.timer?.cancel();
    for (const collection of this.collections.values()) collection.close();
    this.collections.clear();
  }

  private collection({ prefix, form }: PageRequest, latest: Revision): CachedCollection {
    let collection = this.collections.get(prefix);
    if (collection === undefined || collection.ended) {
      const grown = (): void => this.shrink();
      collection = new CachedCollection(this.store, prefix, latest, form, this.limits, grown);
    }
    this.collections.delete(prefix);
    this.collections.set(prefix, collection);
    collection.usedAt = this.clock.monotonicNow();
    this.timer ??= this.clock.setTimer(() => this.sweep(), sweepMs);
    this.shrink();
    return collection;
  }

  /** Caches a page, unless the collection is expected to exceed the limits: it would be dropped when they are reached. */
  private insertIfSmall(
    collection: CachedCollection,
    request: PageRequest,
    page: RangePage,
  ): MaybePromise<CollectionPage> {
    const isFirst = request.after === undefined && request.limit === undefined && collection.bytes === 0;
    if (!isFirst || !page.more) return this.insert(collection, request, page);
    return andThen(this.store.count(request.prefix), (count) => {
      collection.expect(page.entries, count);
      return this.insert(collection, request, page);
    });
  }

  private insert(collection: CachedCollection, request: PageRequest, page: RangePage): CollectionPage {
    // Pages that end at a limit would fill the cache with small segments.
    if (request.limit !== undefined && page.entries.length === request.limit)
      return { ...page, joined: undefined };
    const cached = collection.insert(request.after, page);
    this.shrink();
    return cached === undefined ? { ...page, joined: undefined } : { ...page, ...cached };
  }

  /** Whether keys follow after a cached page at a revision. */
  private follows({ entries }: CachedPage, at: Revision, { prefix }: PageRequest): MaybePromise<boolean> {
    const after = entries.at(-1)?.key;
    return andThen(this.store.range({ prefix, at, after, limit: 1 }), (page) => page.entries.length > 0);
  }

  private sweep(): void {
    this.timer = undefined;
    const before = this.clock.monotonicNow() - idleMs;
    for (const [prefix, collection] of this.collections) {
      if (collection.usedAt >= before) continue;
      collection.close();
      this.collections.delete(prefix);
    }
    if (this.collections.size > 0) this.timer = this.clock.setTimer(() => this.sweep(), sweepMs);
  }

  private shrink(): void {
    let total = 0;
    for (const { bytes } of this.collections.values()) total += bytes;
    for (const [prefix, collection] of this.collections) {
      if (total <= this.limits.totalBytes && this.collections.size <= maxCollections) return;
      total -= collection.bytes;
      collection.close();
      this.collections.delete(prefix);
    }
  }
}

/** Maximum number of collections in the cache. */
const maxCollections = 64;

/** The requested part of a cached page. */
function cut(
  { entries, joined, forms, from, all, more }: CachedPage & { readonly more: boolean },
  revision: Revision,
  { limit }: PageRequest,
): CollectionPage {
  if (limit === undefined || entries.length <= limit) {
    const segment = { entries: all, forms: forms.stretch(0, all.length), from };
    return { revision, entries, joined, forms: forms.stretch(from, from + entries.length), segment, more };
  }
  const first = entries.slice(0, limit);
  const stretch = forms.stretch(from, from + limit);
  return { revision, entries: first, joined: stretchOf(first), forms: stretch, more: true };
}
