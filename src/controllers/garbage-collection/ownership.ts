import { foregroundFinalizer, orphanFinalizer } from "../../kinds/checks/finalizers.ts";
import { keyOf, namesOf, type Registry, type Resource } from "../../resources/registry/registry.ts";
import { asBuffer, metadataOf } from "../../resources/objects/stored.ts";
import { EntryValues } from "../../resources/followers/follower.ts";
import type { OwnerReferenceValue } from "../../schema/kind.ts";
import type { Entry } from "../../storage/store.ts";

/** Substrings of relevant objects; objects without them aren't decoded. */
const marks = new RegExp(String.raw`"(?:ownerReferences":\[|${orphanFinalizer}"|${foregroundFinalizer}")`);

/** Returns true if an entry may have owners or wait for its dependents, judged by its bytes. */
export function mayMatter(entry: Entry, lasting: boolean): boolean {
  return markedEntries.of(entry, lasting, ({ body }) => marks.test(asBuffer(body).toString("latin1")));
}

const markedEntries = new EntryValues<boolean>();

/**
 * The graph of owners and dependents by store key. It contains only objects with owners and objects that wait for
 * dependents.
 */
export class Ownership {
  private readonly ownersOf = new Map<string, readonly string[]>();
  private readonly dependents = new Map<string, Set<string>>();
  /** Objects of an unknown kind, or with an owner of one. */
  private readonly ofUnknownKinds = new Set<string>();
  /** Resource types by store prefix, at a revision of the registry. */
  private types = { revision: -1, byPrefix: new Map<string, Resource>() };

  constructor(private readonly registry: Registry) {}

  /**
   * Adds or updates an object.
   *
   * @returns its references to owners that it can't have.
   */
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

  /** Removes an object and its references to owners; references to the object remain. */
  remove(key: string): void {
    for (const owner of this.ownersOf.get(key) ?? []) {
      const set = this.dependents.get(owner);
      set?.delete(key);
      if (set?.size === 0) this.dependents.delete(owner);
    }
    this.ownersOf.delete(key);
    this.ofUnknownKinds.delete(key);
  }

  /** Returns the keys of objects whose kind, or that of an owner, was unknown when they were added. */
  withUnknownKinds(): readonly string[] {
    return [...this.ofUnknownKinds];
  }

  /** Returns the keys of the objects that refer to the object as an owner, regardless of uid. */
  dependentsOf(key: string): readonly string[] {
    return [...(this.dependents.get(key) ?? [])];
  }

  /** As {@link dependentsOf}, without objects of unknown kinds, which can't be deleted or changed. */
  servedDependentsOf(key: string): readonly string[] {
    return this.dependentsOf(key).filter((one) => this.isServed(one));
  }

  /** Returns the keys of an object's owners. */
  owners(key: string): readonly string[] {
    return this.ownersOf.get(key) ?? [];
  }

  /** Returns the keys of all objects with owners. */
  owned(): IterableIterator<string> {
    return this.ownersOf.keys();
  }

  /** Whether the kind of a store key is served; otherwise the object is one {@link withUnknownKinds}. */
  isServed(key: string): boolean {
    if (this.resourceOf(key) !== undefined) return true;
    this.ofUnknownKinds.add(key);
    return false;
  }

  /** Returns the resource type of a store key. */
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

  /** Returns the store key of an owner; undefined for an unknown kind. */
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

/** A cluster-scoped object can't have a namespaced owner: the reference has no namespace. */
function isInNoNamespace(owner: Resource, namespace: string): boolean {
  return owner.namespaced && namespace === "";
}
