import { andThen, type MaybePromise } from "../../base/maybe-promise.ts";
import type { RangeOptions, RangePage, Revision, Store } from "../../storage/store.ts";
import { CachedCollection, type CachedPage, type CollectionLimits } from "./cached-collection.ts";
import { stretchOf, type ItemForm } from "./joined-bodies.ts";
import type { StretchForms } from "./page-forms.ts";

/** A page of a collection, with its bodies at hand in one piece where they are. */
export interface CollectionPage extends RangePage {
  /** The items in the form asked for, each after a comma; undefined where they aren't in one piece. */
  readonly joined: Buffer | undefined;
  /** Other forms of the page, to be looked up and kept; absent where nothing is kept of it. */
  readonly forms?: StretchForms | undefined;
}

/** Which page is wanted; see {@link RangeOptions}. */
export type PageRequest = Required<Pick<RangeOptions, "prefix" | "maxBytes">> &
  Omit<RangeOptions, "prefix" | "maxBytes"> & {
    /** The form of the items in the joined piece; a collection is always asked for in the same. */
    readonly form: ItemForm;
  };

/** Limits of what the cache keeps, in bytes of bodies and of their other forms. */
export interface PageCacheLimits extends CollectionLimits {
  readonly totalBytes: number;
}

const mebibyte = 1024 * 1024;
const defaultLimits: PageCacheLimits = {
  totalBytes: 64 * mebibyte,
  collectionBytes: 48 * mebibyte,
  bodyBytes: 28 * mebibyte,
};

/**
 * Pages of collections that were listed lately, so that listing an unchanged collection again costs no more than
 * sending it. A page is dropped by the first event for a key in it; what is answered is always what the store would
 * answer. Bounded in bytes; the collections used least lately go first.
 */
export class PageCache {
  /** By prefix, the least lately used first. */
  private readonly collections = new Map<string, CachedCollection>();
  /** Nothing is kept of a store whose latest revision takes a round trip: the pages come from as far as the check. */
  private answersAtOnce: boolean | undefined;

  constructor(
    private readonly store: Store,
    private readonly limits: PageCacheLimits = defaultLimits,
  ) {}

  /** Reads a page as {@link Store.range} does, with the same errors. */
  read(request: PageRequest): MaybePromise<CollectionPage> {
    const latest = this.answersAtOnce === false ? undefined : this.store.latestRevision();
    this.answersAtOnce ??= !(latest instanceof Promise);
    if (latest === undefined || latest instanceof Promise) {
      // The promise is waited for, though its value isn't needed: a failure belongs to this read.
      return andThen(latest, () =>
        andThen(this.store.range(request), (page) => ({ ...page, joined: undefined })),
      );
    }
    const collection = this.collection(request, latest);
    return andThen(collection.sync(), (position) => {
      const at = request.at ?? position;
      // What is no longer retained, or not known yet, is the store's to answer.
      const told = at <= position && at >= (this.store.floor() as Revision);
      const cached = told ? collection.find(request.after, at) : undefined;
      if (cached !== undefined) {
        return andThen(cached.more ?? this.follows(cached, at, request), (more) =>
          cut({ ...cached, more }, at, request),
        );
      }
      return andThen(this.store.range(request), (page) => this.keep(collection, request, page));
    });
  }

  close(): void {
    for (const collection of this.collections.values()) collection.close();
    this.collections.clear();
  }

  private collection({ prefix, form }: PageRequest, latest: Revision): CachedCollection {
    let found = this.collections.get(prefix);
    if (found === undefined || found.ended) {
      const grown = (): void => this.shrink();
      found = new CachedCollection(this.store, prefix, latest, form, this.limits, grown);
    }
    this.collections.delete(prefix);
    this.collections.set(prefix, found);
    this.shrink();
    return found;
  }

  private keep(collection: CachedCollection, request: PageRequest, page: RangePage): CollectionPage {
    // A page that a limit cut short would leave the cache with slivers.
    if (request.limit !== undefined && page.entries.length === request.limit)
      return { ...page, joined: undefined };
    const kept = collection.insert(request.after, page);
    this.shrink();
    return kept === undefined ? { ...page, joined: undefined } : { ...page, ...kept };
  }

  /** Whether keys follow on a cached page at a revision. */
  private follows({ entries }: CachedPage, at: Revision, { prefix }: PageRequest): MaybePromise<boolean> {
    const after = entries.at(-1)?.key;
    return andThen(this.store.range({ prefix, at, after, limit: 1 }), (page) => page.entries.length > 0);
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

/** How many collections are watched over at a time. */
const maxCollections = 64;

/** The part of a cached page that a request asks for. */
function cut(
  { entries, joined, forms, from, more }: CachedPage & { readonly more: boolean },
  revision: Revision,
  { limit }: PageRequest,
): CollectionPage {
  if (limit === undefined || entries.length <= limit) {
    return { revision, entries, joined, forms: forms.stretch(from, from + entries.length), more };
  }
  const taken = entries.slice(0, limit);
  const stretch = forms.stretch(from, from + limit);
  return { revision, entries: taken, joined: stretchOf(taken), forms: stretch, more: true };
}
