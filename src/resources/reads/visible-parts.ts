import { compareKeys, prefixEnd } from "../../storage/keys.ts";
import type { Entry, Revision, Store } from "../../storage/store.ts";
import type { Engine, Target } from "../engine/engine.ts";
import { storeFailure } from "../engine/resource-version.ts";
import type { ObjectView, ViewPart } from "../objects/object-view.ts";
import type { CollectionPage } from "../pages/page-cache.ts";
import { keyOf, prefixOf, type Resource } from "../registry/registry.ts";

/** Objects that are scanned in about the time in which one part is found. */
const objectsPerPart = 16;
/** Maximum number of parts in one step of a list. */
const partsAtOnce = 128;

/**
 * Returns the parts of a view if reading them is faster than scanning the collection; else undefined.
 *
 * @param position of the list: the revision, and the key after which it continues.
 */
export async function partsToRead(
  { store }: Engine,
  { resource, namespace }: Target,
  view: ObjectView,
  position: { readonly revision: Revision | undefined; readonly after: string | undefined },
): Promise<VisibleParts | undefined> {
  try {
    const objects = await store.count(prefixOf(resource, namespace));
    const parts = view.parts(Math.floor(objects / objectsPerPart));
    return parts === undefined ? undefined : new VisibleParts(store, resource, parts, position.after);
  } catch (error) {
    throw storeFailure(error);
  }
}

/** Reads namespaces and single objects in the order of their keys, at one revision. */
export class VisibleParts {
  /** Keys, and prefixes, which end in `/`. */
  private readonly places: readonly string[];
  private next = 0;

  /** @param after the key after which the list continues; undefined: at the start. */
  constructor(
    private readonly store: Store,
    resource: Resource,
    parts: readonly ViewPart[],
    private after: string | undefined,
  ) {
    const places = parts.map(({ namespace, name }) =>
      name === undefined ? prefixOf(resource, namespace) : keyOf(resource, namespace, name),
    );
    const isAhead = (place: string) =>
      after === undefined || compareKeys(place.endsWith("/") ? prefixEnd(place) : place, after) > 0;
    this.places = places.filter(isAhead).toSorted(compareKeys);
  }

  /**
   * Reads the next page, which is empty if its parts have no objects.
   *
   * @param revision of the list; undefined for the first page, which takes the latest.
   * @param limits maximum number of objects, and of bytes of their bodies, with the last object above it.
   * @throws {StoreError} as `Store.range`.
   */
  async read(
    revision: Revision | undefined,
    { limit, maxBytes }: { readonly limit: number; readonly maxBytes: number },
  ): Promise<CollectionPage> {
    const at = revision ?? (await this.store.latestRevision());
    const entries: Entry[] = [];
    let bytes = 0;
    for (let steps = 0; steps < partsAtOnce && this.next < this.places.length; steps++) {
      if (bytes >= maxBytes || entries.length >= limit) break;
      const limits = { limit: limit - entries.length, maxBytes: maxBytes - bytes };
      for (const entry of await this.readPart(this.places[this.next]!, at, limits)) {
        entries.push(entry);
        bytes += entry.body.length;
      }
    }
    return { revision: at, entries, joined: undefined, more: this.next < this.places.length };
  }

  private async readPart(
    place: string,
    at: Revision,
    limits: { readonly limit: number; readonly maxBytes: number },
  ): Promise<readonly Entry[]> {
    if (!place.endsWith("/")) {
      this.next++;
      const entry = await this.store.get(place, at);
      return entry === undefined ? [] : [entry];
    }
    const { after } = this;
    const isInside = after !== undefined && after.startsWith(place);
    const page = await this.store.range({
      prefix: place,
      at,
      after: isInside ? after : undefined,
      limit: limits.limit === Infinity ? undefined : limits.limit,
      maxBytes: limits.maxBytes,
    });
    if (page.more) this.after = page.entries.at(-1)!.key;
    else this.next++;
    return page.entries;
  }
}
