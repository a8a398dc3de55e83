import type { Clock } from "../base/clock.ts";
import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import { Namespace } from "../kinds/core/namespace.ts";
import { Follower } from "../resources/followers/follower.ts";
import { namesOf, resourceOf } from "../resources/registry/registry.ts";
import { decodeEntry } from "../resources/objects/stored.ts";
import type { ApiObject, Kind } from "../schema/kind.ts";
import type { Entry, Store } from "../storage/store.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";

/**
 * What plugins know of the objects of one resource type, such as the limit ranges of a namespace: in memory, kept up to
 * date, and followed from the first question on. Each answer takes in every write that was acknowledged before the question,
 * by whichever process.
 */
export class FollowedObjects<T> {
  private readonly byNamespace = new Map<string, Map<string, T>>();
  private readonly lists = new Map<string, readonly T[]>();
  private follower: Follower | undefined;

  /** @param derive what is kept of an object, made once for each of its versions. */
  constructor(
    private readonly sources: FollowSources,
    private readonly storePrefix: string,
    private readonly derive: (object: ApiObject) => T,
  ) {}

  /**
   * The objects of a namespace, in no order that means anything; the same array until one of them changes.
   *
   * @param namespace empty for cluster scope.
   * @throws {StoreUnavailableError} they can't be followed at present.
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

  /** One object; undefined when there is none. See {@link in}. */
  get(namespace: string, name: string): MaybePromise<T | undefined> {
    return andThen(this.sync(), () => this.byNamespace.get(namespace)?.get(name));
  }

  /** Ends the following. */
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

/** What objects are followed with. */
export interface FollowSources {
  readonly store: Store;
  readonly clock: Clock;
  /** Called when they can't be loaded; that is tried again. */
  readonly failed: (error: unknown) => void;
}

/** What plugins know of a namespace. */
export interface NamespaceFacts {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Makes what plugins follow, and closes it with the server. */
export class AdmissionFacts {
  private readonly followed: { close(): void }[] = [];
  private namespaceFacts: FollowedObjects<NamespaceFacts> | undefined;

  constructor(
    private readonly sources: FollowSources,
    private readonly vocabulary: Vocabulary,
  ) {}

  /** The objects of a kind, as what `derive` makes of each; also of a kind that isn't served at present. */
  of<T>(kind: Kind, derive: (object: ApiObject) => T): FollowedObjects<T> {
    const { stored } = resourceOf(kind, this.vocabulary);
    const objects = new FollowedObjects(this.sources, stored.storePrefix, derive);
    this.followed.push(objects);
    return objects;
  }

  /** The labels and annotations of all namespaces, of which several plugins want to know. */
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
