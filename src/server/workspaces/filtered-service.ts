import type { HttpService } from "../../http/service.ts";
import { UncachedPages } from "../../resources/pages/uncached-pages.ts";
import { noSelectorIndex } from "../../resources/selector-index/no-selector-index.ts";
import { FilteredStore, type EntryFilter } from "../../storage/filtered-store.ts";

/** The service of a workspace for a user who sees only a part of its objects. */
export function filtered(service: HttpService, filter: EntryFilter): HttpService {
  const { engine } = service;
  const store = new FilteredStore(engine.store, filter);
  return {
    ...service,
    engine: { ...engine, store, pages: new UncachedPages(store), selectors: noSelectorIndex },
  };
}
