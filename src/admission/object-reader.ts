import { andThen, type MaybePromise } from "../base/turns/maybe-promise.ts";
import type { StagedEntries } from "../resources/objects/staged-entries.ts";
import { keyOf, storePrefixOf, type Registry, type Resource } from "../resources/registry/registry.ts";
import { decodeEntry } from "../resources/objects/stored.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Store } from "../storage/store.ts";

/** Reads the current state of other objects than the written one. */
export class ObjectReader {
  constructor(
    private readonly store: Store,
    private readonly registry: Registry,
  ) {}

  /**
   * Returns an object of the core group; undefined if it doesn't exist or the name is invalid.
   *
   * @param namespace empty for cluster scope.
   * @param staged what the transaction of the request has written before.
   */
  core(
    resource: string,
    namespace: string,
    name: string,
    staged?: StagedEntries,
  ): MaybePromise<ApiObject | undefined> {
    const type = this.registry.find("", "v1", resource);
    const own = type && staged?.stagedEntry(keyOf(type, namespace, name));
    return own === undefined ? type && this.stored(type, namespace, name) : decodeEntry(own);
  }

  /** Returns an object of a cluster-scoped built-in type, in its stored version; undefined if it doesn't exist or the name is invalid. */
  clusterScoped(group: string, resource: string, name: string): MaybePromise<ApiObject | undefined> {
    return this.stored({ storePrefix: storePrefixOf(group, resource) }, "", name);
  }

  private stored(
    type: Pick<Resource, "storePrefix">,
    namespace: string,
    name: string,
  ): MaybePromise<ApiObject | undefined> {
    if (name === "" || name.includes("/")) return undefined;
    const key = keyOf(type, namespace, name);
    return andThen(this.store.get(key), (entry) => (entry === undefined ? undefined : decodeEntry(entry)));
  }
}
