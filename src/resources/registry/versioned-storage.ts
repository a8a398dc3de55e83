import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { ApiObject, Kind } from "../../schema/kind.ts";
import type { Entry, Revision, Store, Subscription } from "../../storage/store.ts";
import type { WatchObserver } from "./watch-change.ts";

/**
 * How the objects of a resource type are read and written in its version although they may be stored differently: with an older
 * schema, or in another version that is converted. Resource types without it store their objects as they serve them.
 */
export interface VersionedStorage {
  /** The view of a store with the objects in the version of the resource type; the same view each time for a store. */
  viewOf(store: Store): VersionedStore;
  /** Creates the conversions of one request; undefined if the objects are the same in all versions but for the apiVersion. */
  readonly newConversions: (() => Conversions) | undefined;
  /** Whether the objects have the labels as they are stored. */
  readonly keepsLabels: boolean;
}

/** A store with the objects of one resource type in its version. Its subscriptions have them as they are stored. */
export interface VersionedStore extends Store {
  /** Entries of the inner store in the version; the same array if none differs. */
  showAll(entries: readonly Entry[]): MaybePromise<readonly Entry[]>;
  /** Whether an entry that was read here is stored differently, so that an update without changes stores it again. */
  isOutdated(entry: Entry): boolean;
  /**
   * Starts a watch that shows the objects in the version.
   *
   * @param source subscribes an observer to the changes as they are stored.
   * @param after the revision after which the watch begins.
   */
  watch(source: WatchSource, observer: WatchObserver, after: Revision): Subscription;
}

/** One version of a kind; every resource type is one. */
export interface KindVersion {
  readonly kind: Kind;
  readonly apiVersion: string;
}

/** Subscribes an observer to the selected changes of a collection, as they are stored. */
export type WatchSource = (observer: WatchObserver) => Subscription;

/** Conversions of the objects of one request; each result is cached. */
export interface Conversions {
  /**
   * Converts objects to a version, so that {@link get} has them.
   *
   * @param objects each in the version of its apiVersion; they aren't changed.
   * @throws {StatusError} InternalError: they can't be converted, or the request needs too many conversions.
   */
  prefetch(objects: readonly ApiObject[], version: KindVersion): MaybePromise<void>;
  /** A prefetched object in a version. The result must not be changed. */
  get(object: ApiObject, version: KindVersion): ApiObject;
}
