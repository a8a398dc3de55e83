import { andThen } from "../../base/turns/maybe-promise.ts";
import type { KindContext } from "../../schema/context.ts";
import { decode } from "../../schema/decode.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Resource } from "../registry/registry.ts";
import type { VersionedStorage } from "../registry/versioned-storage.ts";
import type { Engine } from "./engine.ts";

/** Converts an object to the storage version, without filling in its defaults. May change the argument. */
export function toStored({ kind, stored }: Resource, object: ApiObject, context: KindContext): ApiObject {
  if (kind.conversion === undefined) return object;
  const canonical = decode(stored.kind.type, kind.conversion.toStored(object, context)).value as ApiObject;
  canonical.apiVersion = stored.apiVersion;
  canonical.kind = stored.kind.name;
  return canonical;
}

/** Converts a stored object to the version of a resource type. May change the argument. */
export function fromStored(
  { kind, apiVersion }: Resource,
  object: ApiObject,
  context: KindContext,
): ApiObject {
  if (kind.conversion === undefined) return object;
  const converted = kind.conversion.fromStored(object, context);
  const canonical = decode(kind.type, converted).value as ApiObject;
  canonical.apiVersion = apiVersion;
  canonical.kind = kind.name;
  return canonical;
}

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
