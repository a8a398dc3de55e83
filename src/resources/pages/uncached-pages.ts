import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { Store } from "../../storage/store.ts";
import type { CollectionPage, PageCache, PageRequest } from "./page-cache.ts";

/** Reads every page from the store, for stores that are read rarely or by one request only. */
export class UncachedPages implements Pick<PageCache, "read" | "close"> {
  constructor(private readonly store: Store) {}

  read({ form: _form, isCached: _isCached, ...range }: PageRequest): MaybePromise<CollectionPage> {
    return andThen(this.store.range(range), (page) => ({ ...page, joined: undefined }));
  }

  close(): void {}
}
