import type { Resource } from "../../resources/registry/registry.ts";
import type { VersionedStorage } from "../../resources/registry/versioned-storage.ts";
import type { Revision, Store } from "../../storage/store.ts";
import { ConvertedObjects } from "./converted-objects.ts";
import { ConvertingStore } from "./converting-store.ts";
import type { DefinitionWatches } from "./definition-watches.ts";
import type { ObjectConverter } from "./object-converter.ts";
import { RefreshingStore } from "./refreshing-store.ts";

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
