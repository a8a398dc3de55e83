import type { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";

/** Names under which a kind is served. */
export type AcceptedNames = NonNullable<NonNullable<CustomResourceDefinition["status"]>["acceptedNames"]>;

/** Whether names are taken by others of a group. */
export interface OtherNames {
  /** As a plural, singular or short name. */
  hasResource(name: string): boolean;
  /** As the name of a kind or of its lists. */
  hasKind(name: string): boolean;
}

/** The names that the definitions of one group have been given, by which conflicts are found without looking at each of them. */
export class TakenNames {
  private readonly accepted = new Map<string, AcceptedNames | undefined>();
  private readonly resources = new Map<string, Set<string>>();
  private readonly kinds = new Map<string, Set<string>>();

  get size(): number {
    return this.accepted.size;
  }

  /** The definitions. */
  definitions(): Iterable<string> {
    return this.accepted.keys();
  }

  /** Notes what a definition has been given; undefined where nothing was accepted yet. */
  set(definition: string, names: AcceptedNames | undefined): void {
    this.delete(definition);
    this.accepted.set(definition, names);
    for (const name of resourcesOf(names)) add(this.resources, name, definition);
    for (const name of kindsOf(names)) add(this.kinds, name, definition);
  }

  /** Forgets a definition that is gone. */
  delete(definition: string): void {
    const names = this.accepted.get(definition);
    this.accepted.delete(definition);
    for (const name of resourcesOf(names)) remove(this.resources, name, definition);
    for (const name of kindsOf(names)) remove(this.kinds, name, definition);
  }

  /** What others than a definition have. */
  butOf(definition: string): OtherNames {
    return {
      hasResource: (name) => heldByOthers(this.resources.get(name), definition),
      hasKind: (name) => heldByOthers(this.kinds.get(name), definition),
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

function heldByOthers(holders: ReadonlySet<string> | undefined, definition: string): boolean {
  return holders !== undefined && holders.size > (holders.has(definition) ? 1 : 0);
}

function add(holders: Map<string, Set<string>>, name: string, definition: string): void {
  const found = holders.get(name);
  if (found === undefined) holders.set(name, new Set([definition]));
  else found.add(definition);
}

function remove(holders: Map<string, Set<string>>, name: string, definition: string): void {
  const found = holders.get(name);
  found?.delete(definition);
  if (found?.size === 0) holders.delete(name);
}
