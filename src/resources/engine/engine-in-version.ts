import { andThen } from "../../base/turns/maybe-promise.ts";
import type { Engine } from "./engine.ts";
import type { Resource } from "../registry/registry.ts";
import type { VersionedStorage } from "../registry/versioned-storage.ts";

const engines = new WeakMap<Engine, WeakMap<VersionedStorage, Engine>>();

/**
 * Returns an engine whose store converts the objects to the version of the resource type, so that verbs need no conversion. Returns the
 * argument if objects are stored as they are served. The result is cached for each resource type.
 */
export function engineInVersion(engine: Engine, { storage }: Resource): Engine {
  if (storage === undefined || engine.isOutdated !== undefined) return engine;
  let byStorage = engines.get(engine);
  if (byStorage === undefined) engines.set(engine, (byStorage = new WeakMap()));
  let versioned = byStorage.get(storage);
  if (versioned === undefined) byStorage.set(storage, (versioned = engineOver(engine, storage)));
  return versioned;
}

function engineOver(engine: Engine, storage: VersionedStorage): Engine {
  const store = storage.viewOf(engine.store);
  return {
    ...engine,
    store,
    pages: {
      read: (request) =>
        andThen(engine.pages.read(request), (page) =>
          andThen(store.showAll(page.entries), (entries) =>
            entries === page.entries ? page : { ...page, entries, joined: undefined, forms: undefined },
          ),
        ),
      close: () => engine.pages.close(),
    },
    isOutdated: (entry) => store.isOutdated(entry),
  };
}
