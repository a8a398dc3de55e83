import type { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";

/** The accepted names of a definition. */
export type AcceptedNames = NonNullable<NonNullable<CustomResourceDefinition["status"]>["acceptedNames"]>;

/** The accepted names of the other definitions of a group. */
export interface OtherNames {
  /** Whether one has a plural, singular or short name. */
  hasResource(name: string): boolean;
  /** Whether one has a name as kind or list kind. */
  hasKind(name: string): boolean;
}

/** Index of the accepted names of the definitions of one group. */
export class ReservedNames {
  private readonly accepted = new Map<string, AcceptedNames | undefined>();
  private readonly resources = new Map<string, Set<string>>();
  private readonly kinds = new Map<string, Set<string>>();

  get size(): number {
    return this.accepted.size;
  }

  /** Names of the definitions. */
  definitions(): Iterable<string> {
    return this.accepted.keys();
  }

  /** Sets the accepted names of a definition; undefined if it has none yet. */
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

  /** The names of all definitions except one. */
  exceptOf(definition: string): OtherNames {
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

function usedByOthers(users: ReadonlySet<string> | undefined, definition: string): boolean {
  return users !== undefined && users.size > (users.has(definition) ? 1 : 0);
}

function add(users: Map<string, Set<string>>, name: string, definition: string): void {
  const existing = users.get(name);
  if (existing === undefined) users.set(name, new Set([definition]));
  else existing.add(definition);
}

function remove(users: Map<string, Set<string>>, name: string, definition: string): void {
  const existing = users.get(name);
  existing?.delete(definition);
  if (existing?.size === 0) users.delete(name);
}
