import { andThen } from "../base/maybe-promise.ts";
import type { ObjectConverter } from "../schema/kind.ts";
import { ConvertedObjects } from "./converted-objects.ts";
import { ConvertingStore } from "./converting-store.ts";
import type { Store } from "../storage/store.ts";
import type { Engine } from "./engine.ts";
import { resourceOf, type Resource } from "./registry.ts";

const known = new WeakMap<Engine["store"], WeakMap<Resource, ConvertingStore>>();

/**
 * The engine for what is done with the objects of a resource type. For a custom kind whose versions a webhook converts, it is one
 * whose store has them in the version of the request: so conversion, which takes a while there, is a part of reading and writing
 * the store, and nothing else has to wait for it.
 */
export function engineInVersion(engine: Engine, resource: Resource): Engine {
  const converter = resource.kind.custom?.converter;
  return converter === undefined || engine.converted !== undefined
    ? engine
    : converting(engine, resource, converter);
}

function converting(engine: Engine, resource: Resource, converter: ObjectConverter): Engine {
  const store = convertingStore(engine, resource, converter);
  return {
    ...engine,
    store,
    pages: {
      read: (request) =>
        andThen(engine.pages.read(request), (page) =>
          andThen(store.showAll(page.entries), (entries) =>
            entries === page.entries ? page : { ...page, entries, joined: undefined },
          ),
        ),
      close: () => engine.pages.close(),
    },
    isOutdated: (entry) => store.isOutdated(entry),
    converted: new ConvertedObjects(converter),
  };
}

/** A store in which the objects of a resource type are in its version, as far as reading and writing them goes. */
export function storeInVersion(
  source: Pick<Engine, "store" | "vocabulary">,
  resource: Resource,
): Pick<Store, "get"> {
  const converter = resource.kind.custom?.converter;
  return converter === undefined ? source.store : convertingStore(source, resource, converter);
}

/** The store of an engine in a version; the same one each time. */
export function convertingStore(
  { store, vocabulary }: Pick<Engine, "store" | "vocabulary">,
  resource: Resource,
  converter: ObjectConverter,
): ConvertingStore {
  let stores = known.get(store);
  if (stores === undefined) known.set(store, (stores = new WeakMap()));
  let found = stores.get(resource);
  if (found === undefined) {
    const kind = converter.stored();
    const stored = kind === resource.kind ? resource : resourceOf(kind, vocabulary);
    stores.set(resource, (found = new ConvertingStore(store, resource, stored, converter)));
  }
  return found;
}
