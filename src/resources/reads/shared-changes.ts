import type { Clock } from "../../base/time/clock.ts";
import type { Entry, Revision, Store } from "../../storage/store.ts";
import type { ViewPart } from "../objects/object-view.ts";
import type { Resource } from "../registry/registry.ts";
import type { WatchChange } from "../registry/watch-change.ts";
import { VisibleParts } from "./visible-parts.ts";

/** Maximum number of objects, and of bytes of their bodies, in one page. */
export const pageLimits = { limit: 500, maxBytes: 256 * 1024 };
/** Time for which the objects of a change are cached, in milliseconds. */
const retentionMs = 1000;
/** Maximum number of cached reads, and of different lists of changes, for one change. */
const maxReads = 16;
const maxLists = 256;

/** The objects of the first page of some parts of a collection. */
interface SharedRead {
  readonly entries: readonly Entry[];
  /** Whether these are all objects of the parts. */
  readonly complete: boolean;
}

/** The objects that a change of grants adds to a view, and those that it removes from it. */
interface ViewDifference {
  readonly additions: readonly Entry[];
  readonly removals: readonly Entry[];
}

const newest = new WeakMap<Store, SharedChanges>();

/**
 * Returns what the watches of a store share about a change of grants; undefined if a later change is already being sent.
 *
 * @param revision of the change.
 */
export function sharedChanges(store: Store, clock: Clock, revision: Revision): SharedChanges | undefined {
  const cached = newest.get(store);
  if (cached !== undefined && cached.revision >= revision)
    return cached.revision === revision ? cached : undefined;
  const changes = new SharedChanges(store, revision);
  newest.set(store, changes);
  const forget = (): void => {
    if (newest.get(store) === changes) newest.delete(store);
  };
  clock.setTimer(forget, retentionMs);
  return changes;
}

/**
 * The objects that one change of grants adds to views and removes from them. They are read once for all users, and users for which the
 * same objects change get the same array, so that its encodings are shared.
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

  /** Returns the changes for a difference: those of `changesOf`, for the same objects the same array. */
  list(
    difference: ViewDifference,
    changesOf: (difference: ViewDifference) => readonly WatchChange[],
  ): readonly WatchChange[] {
    const keysOf = (entries: readonly Entry[]) => entries.map(({ key }) => key).join();
    const key = `${keysOf(difference.additions)};${keysOf(difference.removals)}`;
    let changes = this.lists.get(key);
    if (changes === undefined) {
      changes = changesOf(difference);
      if (this.lists.size < maxLists) this.lists.set(key, changes);
    }
    return changes;
  }
}
