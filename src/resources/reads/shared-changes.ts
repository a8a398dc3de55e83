import type { Entry, Revision, Store } from "../../storage/store.ts";
import type { ViewPart } from "../objects/object-view.ts";
import type { Resource } from "../registry/registry.ts";
import type { WatchChange } from "../registry/watch-change.ts";
import { VisibleParts } from "./visible-parts.ts";

/** Maximum number of objects, and of bytes of their bodies, in one page. */
export const pageLimits = { limit: 500, maxBytes: 256 * 1024 };
/** Time for which the objects of a change are kept, in milliseconds. */
const keptMs = 1000;
/** Maximum number of reads, and of different lists of changes, that are kept for one change. */
const maxReads = 16;
const maxLists = 256;

/** The objects of the first page of some parts of a collection. */
interface SharedRead {
  readonly entries: readonly Entry[];
  /** Whether these are all objects of the parts. */
  readonly complete: boolean;
}

/** The objects that a change of grants shows to a user, and those that it hides. */
interface ChosenEntries {
  readonly shown: readonly Entry[];
  readonly hidden: readonly Entry[];
}

const newest = new WeakMap<Store, SharedChanges>();

/**
 * Returns what the watches of a store share about a change of grants; undefined if a later change is already being sent.
 *
 * @param revision of the change.
 */
export function sharedChanges(store: Store, revision: Revision): SharedChanges | undefined {
  const cached = newest.get(store);
  if (cached !== undefined && cached.revision >= revision)
    return cached.revision === revision ? cached : undefined;
  const changes = new SharedChanges(store, revision);
  newest.set(store, changes);
  const forget = (): void => {
    if (newest.get(store) === changes) newest.delete(store);
  };
  setTimeout(forget, keptMs).unref();
  return changes;
}

/**
 * The objects that one change of grants shows and hides, for all users that it affects: they are read once, and users for which the same
 * objects change get the same array, so that its encodings are shared.
 */
class SharedChanges {
  private readonly reads = new Map<string, Promise<SharedRead>>();
  private readonly lists = new Map<string, readonly WatchChange[]>();

  constructor(
    private readonly store: Store,
    readonly revision: Revision,
  ) {}

  /** Reads the first page of parts. */
  async read(resource: Resource, parts: readonly ViewPart[]): Promise<SharedRead> {
    if (parts.length === 0) return { entries: [], complete: true };
    const key = JSON.stringify([resource.storePrefix, parts]);
    let read = this.reads.get(key);
    if (read === undefined) {
      const reader = new VisibleParts(this.store, resource, parts, undefined);
      read = reader
        .read(this.revision, pageLimits)
        .then(({ entries, more }) => ({ entries, complete: !more }));
      if (this.reads.size < maxReads) this.reads.set(key, read);
      read.catch(() => this.reads.delete(key));
    }
    return read;
  }

  /** Returns the changes that `make` makes of some objects; for equal objects the same array. */
  list(
    chosen: ChosenEntries,
    make: (chosen: ChosenEntries) => readonly WatchChange[],
  ): readonly WatchChange[] {
    const keys = (entries: readonly Entry[]) => entries.map(({ key }) => key).join();
    const key = `${keys(chosen.shown)};${keys(chosen.hidden)}`;
    let changes = this.lists.get(key);
    if (changes === undefined) {
      changes = make(chosen);
      if (this.lists.size < maxLists) this.lists.set(key, changes);
    }
    return changes;
  }
}
