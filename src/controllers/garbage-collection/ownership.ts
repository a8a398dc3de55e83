import { foregroundFinalizer, orphanFinalizer } from "../../kinds/checks/finalizers.ts";
import { keyOf, namesOf, type Registry, type Resource } from "../../resources/registry/registry.ts";
import { asBuffer, metadataOf } from "../../resources/objects/stored.ts";
import type { OwnerReferenceValue } from "../../schema/kind.ts";
import type { Entry } from "../../storage/store.ts";

/** Texts that only relevant objects contain; objects without them aren't decoded. */
const marks = new RegExp(String.raw`"(?:ownerReferences":\[|${orphanFinalizer}"|${foregroundFinalizer}")`);

/** Whether an entry may have owners, or waits for its dependents. */
export function mayMatter({ body }: Entry): boolean {
  return marks.test(asBuffer(body).toString("latin1"));
}

/**
 * The graph of owners and dependents, by store keys. It has only objects with owners and objects that wait for dependents.
 */
export class Ownership {
  private readonly ownersOf = new Map<string, readonly string[]>();
  private readonly dependents = new Map<string, Set<string>>();
  /** Objects with an owner of a kind that isn't known. */
  private readonly ofUnknownKinds = new Set<string>();
  /** By their prefix in the store, as they are at a revision of the registry. */
  private types = { revision: -1, byPrefix: new Map<string, Resource>() };

  constructor(private readonly registry: Registry) {}

  /** Adds an object, or updates what is known of it; gives the owners that it names and can't have. */
  put(entry: Entry): readonly OwnerReferenceValue[] {
    const { namespace } = namesOf(entry.key);
    const { ownerReferences = [] } = metadataOf(entry);
    const keys = ownerReferences.flatMap((owner) => this.keyOfOwner(owner, namespace) ?? []);
    this.remove(entry.key);
    const isUnknown = ({ apiVersion, kind }: OwnerReferenceValue) =>
      this.registry.findKind(apiVersion, kind) === undefined;
    if (ownerReferences.some(isUnknown)) this.ofUnknownKinds.add(entry.key);
    if (keys.length > 0) this.ownersOf.set(entry.key, keys);
    for (const key of keys) {
      const set = this.dependents.get(key) ?? new Set();
      this.dependents.set(key, set.add(entry.key));
    }
    return ownerReferences.filter((owner) => this.isImpossible(owner, namespace));
  }

  /** Forgets what an object depends on; what depends on it stays. */
  remove(key: string): void {
    for (const owner of this.ownersOf.get(key) ?? []) {
      const set = this.dependents.get(owner);
      set?.delete(key);
      if (set?.size === 0) this.dependents.delete(owner);
    }
    this.ownersOf.delete(key);
    this.ofUnknownKinds.delete(key);
  }

  /** Keys of the objects that have an owner of a kind that wasn't known when they were put. */
  withUnknownOwners(): readonly string[] {
    return [...this.ofUnknownKinds];
  }

  /** Keys of the objects that name the object as an owner, whatever its uid. */
  dependentsOf(key: string): readonly string[] {
    return [...(this.dependents.get(key) ?? [])];
  }

  /** Keys of an object's owners. */
  owners(key: string): readonly string[] {
    return this.ownersOf.get(key) ?? [];
  }

  /** Every object that has owners. */
  owned(): IterableIterator<string> {
    return this.ownersOf.keys();
  }

  /** The resource type of a store key. */
  resourceOf(key: string): Resource | undefined {
    const { namespace, name } = namesOf(key);
    return this.byPrefix().get(key.slice(0, key.length - namespace.length - name.length - 1));
  }

  private byPrefix(): ReadonlyMap<string, Resource> {
    const { revision } = this.registry;
    if (this.types.revision !== revision) {
      const stored = this.registry.stored().map((resource) => [resource.storePrefix, resource] as const);
      this.types = { revision, byPrefix: new Map(stored) };
    }
    return this.types.byPrefix;
  }

  /** The store key of an owner; undefined for a kind that this server doesn't have. */
  keyOfOwner({ apiVersion, kind, name }: OwnerReferenceValue, namespace: string): string | undefined {
    const resource = this.registry.findKind(apiVersion, kind);
    if (resource === undefined || isInNoNamespace(resource, namespace)) return undefined;
    return keyOf(resource, resource.namespaced ? namespace : "", name);
  }

  private isImpossible({ apiVersion, kind }: OwnerReferenceValue, namespace: string): boolean {
    const resource = this.registry.findKind(apiVersion, kind);
    return resource !== undefined && isInNoNamespace(resource, namespace);
  }
}

/** A cluster-scoped object can't have a namespaced owner: there would be no telling in which namespace it is. */
function isInNoNamespace(owner: Resource, namespace: string): boolean {
  return owner.namespaced && namespace === "";
}
