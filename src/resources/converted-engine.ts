import { andThen } from "../base/maybe-promise.ts";
import type { CustomKindFacts, ObjectConverter } from "../schema/kind.ts";
import { ConvertedObjects } from "./converted-objects.ts";
import { ConvertingStore } from "./converting-store.ts";
import { RefreshingStore } from "./refreshing-store.ts";
import type { Store } from "../storage/store.ts";
import type { Engine } from "./engine.ts";
import { resourceOf, type Resource } from "./registry.ts";

const converting = new WeakMap<Engine["store"], WeakMap<Resource, ConvertingStore>>();
const engines = new WeakMap<Engine, WeakMap<Resource, Engine>>();
const refreshing = new WeakMap<Engine["store"], WeakMap<Resource, RefreshingStore>>();

/**
 * The engine for what is done with the objects of a resource type. For a custom kind it is one whose store has them as the present
 * schema reads them and, where a webhook converts its versions, in the version of the request: so conversion, which takes a while
 * there, is a part of reading and writing the store, and nothing else has to wait for it.
 */
export function engineInVersion(engine: Engine, resource: Resource): Engine {
  const { custom } = resource.kind;
  if (custom === undefined || engine.isOutdated !== undefined) return engine;
  // What a request has converted is its own.
  if (custom.converter !== undefined)
    return engineOver(engine, customStore(engine, resource, custom), custom);
  const { stored } = resource;
  return oneFor(engines, engine, stored, () => engineOver(engine, refreshingStore(engine, stored), custom));
}

function engineOver(
  engine: Engine,
  store: ConvertingStore | RefreshingStore,
  { converter }: CustomKindFacts,
): Engine {
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
    converted: converter && new ConvertedObjects(converter),
  };
}

/** A store in which the objects of a resource type are in its version, as far as reading and writing them goes. */
export function storeInVersion(
  source: Pick<Engine, "store" | "vocabulary">,
  resource: Resource,
): Pick<Store, "get"> {
  const { custom } = resource.kind;
  return custom === undefined ? source.store : customStore(source, resource, custom);
}

function customStore(
  source: Pick<Engine, "store" | "vocabulary">,
  resource: Resource,
  { converter }: CustomKindFacts,
): ConvertingStore | RefreshingStore {
  return converter === undefined
    ? refreshingStore(source, resource.stored)
    : convertingStore(source, resource, converter);
}

/** The store of an engine in which the objects are as their present schema reads them; the same one each time. */
export function refreshingStore({ store }: Pick<Engine, "store">, stored: Resource): RefreshingStore {
  return oneFor(
    refreshing,
    store,
    stored,
    () => new RefreshingStore(store, stored, stored.kind.custom?.since ?? 0),
  );
}

/** The store of an engine in a version; the same one each time. */
export function convertingStore(
  source: Pick<Engine, "store" | "vocabulary">,
  resource: Resource,
  converter: ObjectConverter,
): ConvertingStore {
  return oneFor(converting, source.store, resource, () => {
    const kind = converter.stored();
    const stored = kind === resource.kind ? resource : resourceOf(kind, source.vocabulary);
    return new ConvertingStore(refreshingStore(source, stored), resource, stored, converter);
  });
}

function oneFor<K extends object, T>(
  all: WeakMap<K, WeakMap<Resource, T>>,
  key: K,
  resource: Resource,
  make: () => T,
): T {
  let byResource = all.get(key);
  if (byResource === undefined) all.set(key, (byResource = new WeakMap()));
  let value = byResource.get(resource);
  if (value === undefined) byResource.set(resource, (value = make()));
  return value;
}
