import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import { keyOf, type Registry } from "../resources/registry/registry.ts";
import { decodeEntry } from "../resources/objects/stored.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Store } from "../storage/store.ts";

/** Reads objects that plugins look at beside the one that is written, as they are stored now. */
export class ObjectReader {
  constructor(
    private readonly store: Store,
    private readonly registry: Registry,
  ) {}

  /**
   * An object of the core group; undefined when there is none, or the name can't be an object's.
   *
   * @param namespace empty for cluster scope.
   */
  core(resource: string, namespace: string, name: string): MaybePromise<ApiObject | undefined> {
    const found = this.registry.find("", "v1", resource);
    if (found === undefined || name === "" || name.includes("/")) return undefined;
    const key = keyOf(found, namespace, name);
    return andThen(this.store.get(key), (entry) => (entry === undefined ? undefined : decodeEntry(entry)));
  }
}
