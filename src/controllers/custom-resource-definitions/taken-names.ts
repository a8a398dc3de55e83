import type { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";

/** Names under which a kind is served. */
export type AcceptedNames = NonNullable<NonNullable<CustomResourceDefinition["status"]>["acceptedNames"]>;

/** Lookup of the names of other definitions of a group. */
export interface OtherNames {
  /** Returns true if the name is a plural, singular or short name. */
  hasResource(name: string): boolean;
  /** Returns true if the name is that of a kind or of its lists. */
  hasKind(name: string): boolean;
}

/**
 * The accepted names of the definitions of one group, indexed so that a conflict is definitions without iterating over the
 * definitions.
 */
export class TakenNames {
  private readonly accepted = new Map<string, AcceptedNames | undefined>();
  private readonly resources = new Map<string, Set<string>>();
  private readonly kinds = new Map<string, Set<string>>();

  get size(): number {
    return this.accepted.size;
  }

  definitions(): Iterable<string> {
    return this.accepted.keys();
  }

  /** Sets the accepted names of a definition; undefined if none were accepted yet. */
  set(definition: string, names: AcceptedNames | undefined): void {
    this.delete(definition);
    this.accepted.set(definition, names);
    for (const name of resourcesOf(names)) add(this.resources, name, definition);
    for (const name of kindsOf(names)) add(this.kinds, name, definition);
  }

  /** Removes a deleted definition. */
  delete(definition: string): void {
    const names = this.accepted.get(definition);
    this.accepted.delete(definition);
    for (const name of resourcesOf(names)) remove(this.resources, name, definition);
    for (const name of kindsOf(names)) remove(this.kinds, name, definition);
  }

  /** Returns the names of all definitions except one. */
  except(definition: string): OtherNames {
    return {
      hasResource: (name) => usedByOthers(this.resources.get(name), definition),
      hasKind: (name) => usedByOthers(this.kinds.get(name), definition),
    };
  }
}

function resourcesOf(names: AcceptedNames | undefined): string[] {
  if (names === undefined) return [];
  return [names.plural, names.singular ?? "", ...(names.shortNames ?? [])];
}

function kindsOf(names: AcceptedNames | undefined): string[] {
  return names === undefined ? [] : [names.kind, names.listKind ?? ""];
}

function usedByOthers(holders: ReadonlySet<string> | undefined, definition: string): boolean {
  return holders !== undefined && holders.size > (holders.has(definition) ? 1 : 0);
}

function add(holders: Map<string, Set<string>>, name: string, definition: string): void {
  const definitions = holders.get(name);
  if (definitions === undefined) holders.set(name, new Set([definition]));
  else definitions.add(definition);
}

function remove(holders: Map<string, Set<string>>, name: string, definition: string): void {
  const definitions = holders.get(name);
  definitions?.delete(definition);
  if (definitions?.size === 0) holders.delete(name);
}
