/** Sets with at least this number of names are shared between scopes; the names of smaller ones are copied. */
const sharedSize = 256;
/** Maximum number of shared sets of a scope, each of which is asked for a name; the names of further ones are copied. */
const maxShared = 16;

/** The objects of one namespace, or of every namespace, that a user may access. */
class NamespaceScope {
  /** Whether every name is allowed. */
  whole = false;
  private names: Set<string> | undefined;
  private readonly shared: ReadonlySet<string>[] = [];

  /** @param names undefined for every name. */
  allow(names: ReadonlySet<string> | undefined): void {
    if (names === undefined) this.whole = true;
    else if (this.shared.includes(names)) return;
    else if (names.size >= sharedSize && this.shared.length < maxShared) this.shared.push(names);
    else for (const name of names) (this.names ??= new Set()).add(name);
  }

  allows(name: string): boolean {
    return this.whole || this.names?.has(name) === true || this.shared.some((names) => names.has(name));
  }

  /** Returns the sets of allowed names; a name may be in several. */
  nameSets(): readonly ReadonlySet<string>[] {
    return this.names === undefined ? this.shared : [this.names, ...this.shared];
  }

  /** Whether no single name is allowed. */
  get isNameless(): boolean {
    return this.names === undefined && this.shared.length === 0;
  }
}

/** A part of a collection: one namespace, or one object if it has a name. */
export interface AccessPart {
  readonly namespace: string;
  readonly name: string | undefined;
}

/**
 * The objects of one resource type for which a user may perform a verb, as granted by the authorizers that can enumerate their grants:
 * all of them, whole namespaces, and single names in one or in every namespace. A namespace is the one in the attributes of a request
 * for the object; it is empty for cluster-scoped objects.
 */
export class AccessScopes {
  private readonly everywhere = new NamespaceScope();
  private readonly byNamespace = new Map<string, NamespaceScope>();

  /** Number of added namespaces and names, as a measure of memory; names that were added several times count each time. */
  size = 0;

  /** Whether every object is allowed. */
  get everything(): boolean {
    return this.everywhere.whole;
  }

  /** Allows names in every namespace. @param names undefined for every name. */
  allowEverywhere(names?: ReadonlySet<string>): void {
    this.size += names?.size ?? 1;
    this.everywhere.allow(names);
  }

  /** Allows names in one namespace. @param names undefined for every name. */
  allowIn(namespace: string, names?: ReadonlySet<string>): void {
    this.size += names?.size ?? 1;
    let scope = this.byNamespace.get(namespace);
    if (scope === undefined) this.byNamespace.set(namespace, (scope = new NamespaceScope()));
    scope.allow(names);
  }

  /** Whether an object is allowed. */
  allows(namespace: string, name: string): boolean {
    return this.everywhere.allows(name) || this.byNamespace.get(namespace)?.allows(name) === true;
  }

  /** Whether every object of a namespace is allowed. */
  allowsWhole(namespace: string): boolean {
    return this.everything || this.byNamespace.get(namespace)?.whole === true;
  }

  /**
   * Returns disjoint parts that together have every allowed object of all namespaces, in no particular order.
   *
   * @param limit maximum number of parts.
   * @returns undefined if there are more parts, or if single names are allowed in every namespace.
   */
  parts(limit: number): readonly AccessPart[] | undefined {
    if (this.everything || !this.everywhere.isNameless) return undefined;
    const parts: AccessPart[] = [];
    for (const [namespace, scope] of this.byNamespace) {
      if (scope.whole) parts.push({ namespace, name: undefined });
      else if (!addNames(parts, namespace, scope.nameSets(), limit)) return undefined;
      if (parts.length > limit) return undefined;
    }
    return parts;
  }

  /**
   * Returns the allowed objects of one namespace by name.
   *
   * @param limit maximum number of parts.
   * @returns undefined if there are more, or if the whole namespace is allowed.
   */
  partsIn(namespace: string, limit: number): readonly AccessPart[] | undefined {
    if (this.allowsWhole(namespace)) return undefined;
    const sets = [...this.everywhere.nameSets(), ...(this.byNamespace.get(namespace)?.nameSets() ?? [])];
    const parts: AccessPart[] = [];
    return addNames(parts, namespace, sets, limit) ? parts : undefined;
  }

  /** Returns the sets of names that are allowed in every namespace; a name may be in several. */
  namesEverywhere(): readonly ReadonlySet<string>[] {
    return this.everywhere.nameSets();
  }

  /** Returns the sets of names that are allowed in one namespace, without those that are in every namespace. */
  namesIn(namespace: string): readonly ReadonlySet<string>[] {
    return this.byNamespace.get(namespace)?.nameSets() ?? [];
  }

  /** Returns the namespaces with own grants. */
  namespaces(): Iterable<string> {
    return this.byNamespace.keys();
  }
}

/** Adds a part for each name; returns false if there are more parts than the limit. */
function addNames(
  parts: AccessPart[],
  namespace: string,
  sets: readonly ReadonlySet<string>[],
  limit: number,
): boolean {
  const added = new Set<string>();
  for (const names of sets) {
    for (const name of names) {
      if (added.has(name)) continue;
      if (parts.length >= limit) return false;
      added.add(name);
      parts.push({ namespace, name });
    }
  }
  return true;
}

/** Returns the scopes of an authorizer that allows everything. */
export function allScopes(): AccessScopes {
  const scopes = new AccessScopes();
  scopes.allowEverywhere();
  return scopes;
}
