import type { Clock } from "../base/time/clock.ts";
import { andThen, type MaybePromise } from "../base/turns/maybe-promise.ts";
import { Namespace } from "../kinds/core/namespace.ts";
import type { StagedEntries } from "../resources/objects/staged-entries.ts";
import { Follower } from "../resources/followers/follower.ts";
import { namesOf, resourceOf } from "../resources/registry/registry.ts";
import { decodeEntry } from "../resources/objects/stored.ts";
import type { ApiObject, Kind } from "../schema/kind.ts";
import type { Entry, Store } from "../storage/store.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";

/**
 * An in-memory index of the objects of one resource type, such as the limit ranges of a namespace. The first read starts a watch.
 * Each read includes all writes that any process has acknowledged before it.
 */
export class FollowedObjects<T> {
  private readonly byNamespace = new Map<string, Map<string, T>>();
  private readonly lists = new Map<string, readonly T[]>();
  private follower: Follower | undefined;

  /** @param derive returns the indexed value of an object; called once for each version of the object. */
  constructor(
    private readonly sources: FollowSources,
    private readonly storePrefix: string,
    private readonly derive: (object: ApiObject) => T,
  ) {}

  /**
   * Returns the objects of a namespace, unsorted; the same array until one of them changes.
   *
   * @param namespace empty for cluster scope.
   * @throws {StoreUnavailableError} the objects can't be read.
   */
  in(namespace: string): MaybePromise<readonly T[]> {
    return andThen(this.sync(), () => {
      let list = this.lists.get(namespace);
      if (list === undefined) {
        list = [...(this.byNamespace.get(namespace)?.values() ?? [])];
        if (list.length > 0) this.lists.set(namespace, list);
      }
      return list;
    });
  }

  /**
   * Returns one object; undefined if it doesn't exist. Throws as {@link in}.
   *
   * @param staged what the transaction of the request has written before.
   */
  get(namespace: string, name: string, staged?: StagedEntries): MaybePromise<T | undefined> {
    const own = staged?.stagedEntry(`${this.storePrefix}${namespace}/${name}`);
    if (own !== undefined) return this.derive(decodeEntry(own));
    return andThen(this.sync(), () => this.byNamespace.get(namespace)?.get(name));
  }

  /** Ends the watch. */
  close(): void {
    this.follower?.close();
  }

  private sync(): MaybePromise<void> {
    if (this.follower === undefined) {
      const { store, clock, failed } = this.sources;
      const handler = {
        put: (entry: Entry) => this.put(entry),
        remove: (key: string) => this.remove(key),
        failed,
      };
      this.follower = new Follower(store, this.storePrefix, handler, clock);
      this.follower.startInBackground();
    }
    return this.follower.sync();
  }

  private put(entry: Entry): void {
    const { namespace, name } = namesOf(entry.key);
    let objects = this.byNamespace.get(namespace);
    if (objects === undefined) this.byNamespace.set(namespace, (objects = new Map()));
    objects.set(name, this.derive(decodeEntry(entry)));
    this.lists.delete(namespace);
  }

  private remove(key: string): void {
    const { namespace, name } = namesOf(key);
    const objects = this.byNamespace.get(namespace);
    objects?.delete(name);
    if (objects?.size === 0) this.byNamespace.delete(namespace);
    this.lists.delete(namespace);
  }
}

/** Dependencies of {@link FollowedObjects}. */
export interface FollowSources {
  readonly store: Store;
  readonly clock: Clock;
  /** Called if the objects can't be loaded; loading is retried. */
  readonly failed: (error: unknown) => void;
}

/** The attributes of a namespace that plugins read. */
export interface NamespaceFacts {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Creates the indexes of the plugins, and closes them with the server. */
export class AdmissionFacts {
  private readonly followed: { close(): void }[] = [];
  private namespaceFacts: FollowedObjects<NamespaceFacts> | undefined;

  constructor(
    private readonly sources: FollowSources,
    private readonly vocabulary: Vocabulary,
  ) {}

  /**
   * Returns an index of the objects of a kind, also if the kind isn't served.
   *
   * @param derive see {@link FollowedObjects}.
   */
  of<T>(kind: Kind, derive: (object: ApiObject) => T): FollowedObjects<T> {
    const { stored } = resourceOf(kind, this.vocabulary);
    const objects = new FollowedObjects(this.sources, stored.storePrefix, derive);
    this.followed.push(objects);
    return objects;
  }

  /** The index of namespaces, shared by all plugins. */
  get namespaces(): FollowedObjects<NamespaceFacts> {
    return (this.namespaceFacts ??= this.of(Namespace, ({ metadata: { labels = {}, annotations = {} } }) => ({
      labels,
      annotations,
    })));
  }

  close(): void {
    for (const objects of this.followed) objects.close();
  }
}
