import { andThen } from "../../base/turns/maybe-promise.ts";
import type { HttpService } from "../../http/service.ts";
import type { Engine } from "../../resources/engine/engine.ts";
import { UncachedPages } from "../../resources/pages/uncached-pages.ts";
import { noSelectorIndex } from "../../resources/selector-index/no-selector-index.ts";
import { FilteredStore, type EntryFilter } from "../../storage/filtered-store.ts";

/** The service of a workspace for a user who sees only a part of its objects. */
export function filtered(service: HttpService, filter: EntryFilter): HttpService {
  const { engine } = service;
  const store = new FilteredStore(engine.store, filter);
  return {
    ...service,
    engine: {
      ...engine,
      store,
      pages: filteredPages(engine.pages, store, filter),
      selectors: noSelectorIndex,
    },
  };
}

/** Cached pages for collections of which the user sees everything. */
function filteredPages(pages: Engine["pages"], store: FilteredStore, filter: EntryFilter): Engine["pages"] {
  const visible = new UncachedPages(store);
  return {
    read: (request) =>
      andThen(filter.showsAll(request.prefix), (all) => (all ? pages : visible).read(request)),
    close: () => undefined,
  };
}
