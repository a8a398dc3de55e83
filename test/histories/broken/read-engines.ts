import type { Entry, RangeOptions, RangePage, Revision, Store } from "../../../src/storage/store.ts";
import { every, isConfigMap, override, withReads, type Engine } from "./engine.ts";

/** Returns an engine whose pages of ConfigMaps are replaced. */
function withPages(read: (options: RangeOptions, store: Store) => Promise<RangePage>): Engine {
  return (store) =>
    override(store, {
      range: (options) =>
        options.prefix.startsWith("/core/configmaps/") ? read(options, store) : store.range(options),
    });
}

/** Reads the value before the newest one at every 5th read. */
export function staleRead(): Engine {
  const isStale = every(5);
  return withReads(async (entry, store) => {
    if (entry === undefined || !isStale()) return entry;
    const before = Math.max(entry.revision - 1, await store.floor()) as Revision;
    return store.get(entry.key, before);
  });
}

/** Reads the pages after the first one at the latest revision. */
export function tornList(): Engine {
  return withPages(async (options, store) => {
    if (options.after === undefined) return store.range(options);
    const page = await store.range({ ...options, at: undefined });
    return { ...page, revision: options.at! };
  });
}

/** Reads pages after the first one at the latest revision, and says so. */
export function pagesOfTwoRevisions(): Engine {
  return withPages(async (options, store) =>
    store.range(options.after === undefined ? options : { ...options, at: undefined }),
  );
}

/** Omits an object from every 5th page. */
export function missingObject(): Engine {
  const omits = every(5);
  return withPages(async (options, store) => {
    const page = await store.range(options);
    return omits() ? { ...page, entries: page.entries.slice(1) } : page;
  });
}

/** Lists the last deleted object as if it existed. */
export function deletedObject(): Engine {
  const deleted = new Map<string, Entry>();
  return (store) =>
    override(store, {
      async commit(write) {
        const result = await store.commit(write);
        if (result.ok && write.kind === "delete" && isConfigMap(write.key))
          deleted.set(write.key, result.entry);
        return result;
      },
      async range(options) {
        const page = await store.range(options);
        if (options.limit !== undefined || options.at !== undefined) return page;
        const listed = new Set(page.entries.map(({ key }) => key));
        const more = [...deleted.values()].filter(
          ({ key }) => key.startsWith(options.prefix) && !listed.has(key),
        );
        const entries = [...page.entries, ...more.slice(0, 1)];
        return { ...page, entries: entries.toSorted((a, b) => (a.key < b.key ? -1 : 1)) };
      },
    });
}

/** Lists the latest state as it was three revisions ago. */
export function outdatedList(): Engine {
  return withPages(async (options, store) => {
    if (options.at !== undefined) return store.range(options);
    const at = Math.max((await store.latestRevision()) - 3, await store.floor()) as Revision;
    return store.range({ ...options, at });
  });
}

/** Lists the latest state instead of the requested revision. */
export function ignoredExactRevision(): Engine {
  return withPages(async (options, store) =>
    store.range(options.after === undefined ? { ...options, at: undefined } : options),
  );
}

/** Lists objects in the wrong order. */
export function unorderedList(): Engine {
  return withPages(async (options, store) => {
    const page = await store.range(options);
    return options.limit === undefined ? { ...page, entries: page.entries.toReversed() } : page;
  });
}
