import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { Entry, RangeOptions, RangePage, Revision, Store } from "../../storage/store.ts";
import { CachedCollection, type CachedPage } from "./cached-collection.ts";
import { stretchOf, type ItemForm } from "./joined-bodies.ts";
import type { PageCacheMemory } from "./page-cache-memory.ts";
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

/**
 * Cache of the pages of recently listed collections, so that a list of an unchanged collection costs no more than sending it. The first
 * event for a key drops the page of the key, so results are always those of the store.
 */
export class PageCache {
  /** Whether the store is local. The cache is off for remote stores, where its check would cost as much as reading the page. */
  private isLocal: boolean | undefined;
  private readonly owner: string;

  /** @param memory may be shared with the caches of other stores. */
  constructor(
    private readonly store: Store,
    private readonly memory: PageCacheMemory,
  ) {
    this.owner = memory.newOwner();
  }

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
    this.memory.drop(this.owner);
  }

  private collection({ prefix, form }: PageRequest, latest: Revision): CachedCollection {
    const { store, memory } = this;
    return memory.use(
      this.owner + prefix,
      () => new CachedCollection(store, prefix, latest, form, memory.limits, () => memory.shrink()),
    );
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
    const cached = collection.insert(request.after, page, page.entries.length === request.limit);
    this.memory.shrink();
    return cached === undefined ? { ...page, joined: undefined } : { ...page, ...cached };
  }

  /** Whether keys follow after a cached page at a revision. */
  private follows({ entries }: CachedPage, at: Revision, { prefix }: PageRequest): MaybePromise<boolean> {
    const after = entries.at(-1)?.key;
    return andThen(this.store.range({ prefix, at, after, limit: 1 }), (page) => page.entries.length > 0);
  }
}

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
