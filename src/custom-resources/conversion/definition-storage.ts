import { jsonOf } from "../../base/json/value.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import type {
  VersionedStorage,
  Conversions,
  KindVersion,
} from "../../resources/registry/versioned-storage.ts";
import type { Revision, Store } from "../../storage/store.ts";
import { ConvertingStore } from "./converting-store.ts";
import type { DefinitionWatches } from "./definition-watches.ts";
import { type ObjectConverter, convertAll } from "./object-converter.ts";
import { RefreshingStore } from "./refreshing-store.ts";
import { encodeJson } from "../../base/json/encode.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import type { ApiObject } from "../../schema/kind.ts";

/** How the objects of one CustomResourceDefinition are stored; all its versions share it. */
export class DefinitionStorage {
  private readonly refreshing = new WeakMap<Store, RefreshingStore>();
  private readonly unconverted: VersionedStorage;

  /**
   * @param stored the resource type in the storage version.
   * @param since revision of the definition.
   * @param watches the watches of its resource types.
   * @param converter undefined if the objects are the same in all versions but for the apiVersion.
   */
  constructor(
    private readonly stored: Resource,
    private readonly since: Revision,
    private readonly watches: DefinitionWatches,
    private readonly converter: ObjectConverter | undefined,
  ) {
    this.unconverted = {
      viewOf: (store) => this.refreshingStore(store),
      newConversions: undefined,
      keepsLabels: true,
    };
  }

  /** The storage of the definition's resource type in one of its versions. */
  inVersion(resource: Resource): VersionedStorage {
    const { converter, stored } = this;
    if (converter === undefined) return this.unconverted;
    const converting = new WeakMap<Store, ConvertingStore>();
    return {
      viewOf: (store) => {
        let view = converting.get(store);
        if (view === undefined) {
          view = new ConvertingStore(this.refreshingStore(store), resource, stored, converter);
          converting.set(store, view);
        }
        return view;
      },
      newConversions: () => new ConvertedObjects(converter),
      keepsLabels: converter.keepsLabels,
    };
  }

  private refreshingStore(store: Store): RefreshingStore {
    let view = this.refreshing.get(store);
    if (view === undefined) {
      const { stored, since, watches, converter } = this;
      view = new RefreshingStore(store, stored, since, watches, converter !== undefined);
      this.refreshing.set(store, view);
    }
    return view;
  }
}

/** Maximum number of conversions of one request; field ownership needs two for each version in which fields were written. */
const maxConversions = 200;

/** The converted objects of one request, by their content and version. */
export class ConvertedObjects implements Conversions {
  private readonly converted = new Map<string, ApiObject>();

  constructor(private readonly converter: ObjectConverter) {}

  prefetch(objects: readonly ApiObject[], version: KindVersion): MaybePromise<void> {
    const missing = new Map<string, ApiObject>();
    for (const object of objects) {
      if (object.apiVersion === version.apiVersion) continue;
      const key = keyOf(object, version);
      if (!this.converted.has(key)) missing.set(key, object);
    }
    if (missing.size > 0) return this.convert(missing, version);
  }

  get(object: ApiObject, version: KindVersion): ApiObject {
    if (object.apiVersion === version.apiVersion) return object;
    const converted = this.converted.get(keyOf(object, version));
    if (converted === undefined) throw new Error("a converted object was not prefetched");
    return converted;
  }

  private async convert(missing: ReadonlyMap<string, ApiObject>, version: KindVersion): Promise<void> {
    if (this.converted.size + missing.size > maxConversions) {
      throw new StatusError("InternalError", "the object has fields that were written in too many versions");
    }
    const converted = await convertAll(this.converter, [...missing.values()], version);
    for (const [index, key] of [...missing.keys()].entries()) this.converted.set(key, converted[index]!);
  }
}

function keyOf(object: ApiObject, { apiVersion }: KindVersion): string {
  return `${apiVersion} ${encodeJson(jsonOf(object))}`;
}
