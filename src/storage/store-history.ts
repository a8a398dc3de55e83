/** The part of the store's contract about history that is kept longer than the retention time: {@link StoreHistory}. */
import type { MaybePromise } from "../base/turns/maybe-promise.ts";
import type { Revision } from "./revision.ts";

/** Who made a write, and how. It is kept with the version that the write made. */
export interface Origin {
  /** Name of the user. */
  readonly user: string;
  /** Name of the field manager. */
  readonly manager: string;
  /** Verb of the request, such as `create`, `apply` or `delete`. */
  readonly verb: string;
  /** Identifies the request, as in its audit event. All writes of a transaction have the same one. */
  readonly requestId: string;
  /** Time of the write, in milliseconds since 1970. */
  readonly time: number;
}

/** How long the history of a collection is kept. What exceeds either limit is dropped, the oldest first. */
export interface CollectionRetention {
  /** In milliseconds; at least the retention time of the store. */
  readonly ms: number;
  /** Maximum size of the superseded values, in bytes; unlimited when absent. It may be exceeded for minutes. */
  readonly bytes?: number | undefined;
}

/** A version of a key: the effect of one write. */
export interface Version {
  readonly key: string;
  /** Revision of the write. {@link Store.get} at this revision returns the value. */
  readonly revision: Revision;
  /** Whether the write deleted the key. */
  readonly deleted: boolean;
  /** Revision of the version before; 0 if there was none, so the write created the key. */
  readonly previous: Revision | 0;
  /** Absent for a write without one. */
  readonly origin: Origin | undefined;
}

/** A page of versions. */
export interface VersionPage {
  readonly versions: readonly Version[];
  /** Position for the next page; absent if this is the last one. */
  readonly next: string | undefined;
}

/** Which versions a page has. */
export interface VersionOptions {
  /** `next` of the page before. */
  readonly after?: string | undefined;
  /** Maximum number of versions, at least 1; beside them a page may have versions whose writes weren't recorded. */
  readonly limit: number;
}

/** A named revision at which everything can be read, however old it is. */
export interface Pin {
  readonly name: string;
  readonly revision: Revision;
}

/**
 * The pins of a store. What is visible at a pinned revision is kept from the write on that supersedes it, once for all pins. So a pin
 * costs what changes after it, not what exists. Exact reads at its revision succeed under every prefix; those between pins may not.
 */
export interface StorePins {
  /**
   * Returns the pins in the order of their names.
   *
   * @param start only those whose names begin with it; all when absent.
   */
  list(start?: string): Promise<readonly Pin[]>;

  /**
   * Pins a revision, or moves the pin of this name to it.
   *
   * @param name contains no `/` or NUL; at most 500 bytes.
   * @param at the latest when absent; then nothing is copied.
   * @throws {RevisionCompactedError} the revision is below the floor and not pinned.
   * @throws {RevisionTooNewError} it is above the latest one.
   */
  add(name: string, at?: Revision): Promise<Pin>;

  /** Removes a pin; what only it needed is dropped in the background. Returns whether there was one. */
  remove(name: string): Promise<boolean>;
}

/**
 * The history that a store keeps for chosen collections, longer than its retention time. In these collections exact reads and
 * subscriptions reach back to the floor of the collection. All methods but {@link StoreHistory.keeps} may be called only for them.
 *
 * All methods reject as {@link Store.get} does if the store can't be read.
 */
export interface StoreHistory {
  /** Whether the collection with a prefix (`/{group}/{resource}/`) or of a key is kept. */
  keeps(prefix: string): boolean;

  /** Returns the oldest revision that can be read exactly in the collection of a prefix, and after which a subscription may start. */
  floor(prefix: string): MaybePromise<Revision>;

  /**
   * Returns versions of one key, newest first. The cost depends on the number of versions returned. The version that the key had at
   * the floor is included if its write is still known.
   */
  versions(key: string, options: VersionOptions): Promise<VersionPage>;

  /** Returns the deletions of keys under a prefix that don't exist now, one for each key, in key order. */
  deletions(prefix: string, options: VersionOptions): Promise<VersionPage>;

  /** Returns all versions of the keys under a prefix, in key order, those of a key newest first. A page may have none. */
  changes(prefix: string, options: VersionOptions): Promise<VersionPage>;

  /**
   * Returns a revision at which kept collections are read as they were at a time (milliseconds since 1970), to a second.
   *
   * @throws {RevisionCompactedError} the history doesn't reach back to it.
   */
  revisionAt(time: number): Promise<Revision>;

  /**
   * Drops the history of all keys that begin with a text, in turns, except values that are pinned. It is for keys that no longer exist and
   * won't be written again, such as those of a keyspace.
   *
   * @param ending ends the call early when it is aborted.
   */
  forget(start: string, ending?: AbortSignal): Promise<void>;
}
