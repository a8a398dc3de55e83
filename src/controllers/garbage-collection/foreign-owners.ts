import { RecentMap } from "../../base/collections/recent-map.ts";
import { Namespace } from "../../kinds/core/namespace.ts";
import { metadataOf } from "../../resources/objects/stored.ts";
import { keyOf, namesOf, prefixOf, type Registry } from "../../resources/registry/registry.ts";
import type { OwnerReferenceValue } from "../../schema/kind.ts";
import type { Store } from "../../storage/store.ts";

/** Number of namespaces in which an owner is looked for. */
const maxNamespaces = 1000;
/** Number of concurrent reads of the store. */
const parallelReads = 16;
/** Number of deleted owners that are remembered. */
const maxDeleted = 10_000;

/** Finds owners that exist in another namespace than the object that refers to them, so that the reference is invalid. */
export class ForeignOwners {
  /** Keys of deleted owners. Their dependents need no search, which would cost more than their deletion. */
  private readonly deleted = new RecentMap<true>({ entries: maxDeleted, cost: 0 });

  constructor(
    private readonly store: Store,
    private readonly registry: Registry,
  ) {}

  /** Must be called when an object with dependents was deleted. */
  noteDeleted(key: string): void {
    this.deleted.set(key, true);
  }

  /**
   * Whether the owner of an object in a namespace exists in another namespace, by kind, name and uid.
   * The first {@link maxNamespaces} namespaces are searched.
   *
   * @param expectedKey key of the owner in the namespace of the object.
   */
  async has({ apiVersion, kind, name, uid }: OwnerReferenceValue, expectedKey: string): Promise<boolean> {
    const resource = this.registry.findKind(apiVersion, kind);
    if (resource?.namespaced !== true || this.deleted.get(expectedKey) === true) return false;
    const prefix = prefixOf(this.registry.require(Namespace), "");
    const { entries } = await this.store.range({ prefix, limit: maxNamespaces });
    const keys = entries.map((entry) => keyOf(resource, namesOf(entry.key).name, name));
    for (let at = 0; at < keys.length; at += parallelReads) {
      const owners = await Promise.all(keys.slice(at, at + parallelReads).map((key) => this.store.get(key)));
      if (owners.some((entry) => entry !== undefined && metadataOf(entry).uid === uid)) return true;
    }
    return false;
  }
}
