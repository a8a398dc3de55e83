import type { Engine } from "../../resources/engine/engine.ts";
import { storeMethods } from "../../storage/guarded-store.ts";
import type { Revision, Store } from "../../storage/store.ts";

/** Returns an engine whose gets and lists read the state at a revision, unless they name another one. */
export function staleEngine(engine: Engine, revision: Revision): Engine {
  const { store, pages, selectors } = engine;
  const methods = storeMethods.map((name) => [name, (store[name] as () => unknown).bind(store)]);
  const stale: Store = {
    ...(Object.fromEntries(methods) as Store),
    transactionLimits: store.transactionLimits,
    history: store.history,
    latestRevision: () => revision,
    get: (key, at = revision) => store.get(key, at),
    range: (options) => store.range({ ...options, at: options.at ?? revision }),
    count: (prefix, at = revision) => store.count(prefix, at),
  };
  return {
    ...engine,
    store: stale,
    pages: {
      read: (request) => pages.read({ ...request, at: request.at ?? revision }),
      close: () => pages.close(),
    },
    selectors: {
      counters: selectors.counters,
      find: (request) => selectors.find({ ...request, at: request.at ?? revision }),
      scanned: (...scan) => selectors.scanned(...scan),
      expectsIndex: (search) => selectors.expectsIndex(search),
      close: () => selectors.close(),
    },
  };
}
