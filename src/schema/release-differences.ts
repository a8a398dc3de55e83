import type { Field, Fields, StructType, Type } from "./types.ts";

/** How the stored form of the objects of a kind differs between two releases. */
export interface ReleaseDifferences {
  /** Names of members that only the later release declares. */
  readonly later: ReadonlySet<string>;
  /** Names of members that only the earlier release always writes, also if they are empty. */
  readonly written: ReadonlySet<string>;
  /** Names of the fields whose structs have {@link written} members. */
  readonly parents: ReadonlySet<string>;
}

/** Compares the forms of a kind; the object's own metadata is the same in all releases. */
export function releaseDifferences(earlier: StructType, later: StructType): ReleaseDifferences {
  const comparison = new Comparison();
  comparison.fields(withoutMetadata(earlier), withoutMetadata(later), "");
  return comparison;
}

function withoutMetadata({ fields }: StructType): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== "metadata"));
}

class Comparison implements ReleaseDifferences {
  readonly later = new Set<string>();
  readonly written = new Set<string>();
  readonly parents = new Set<string>();
  /** The names of the fields by which a struct was reached. */
  private readonly visited = new Map<Type, Set<string>>();

  /** @param parent the name of the field with the struct. */
  fields(earlier: Fields, later: Fields, parent: string): void {
    for (const [name, field] of Object.entries(later)) {
      if (Object.hasOwn(earlier, name)) this.field(earlier[name]!, field, name, parent);
      else this.later.add(name);
    }
  }

  private field(earlier: Field, later: Field, name: string, parent: string): void {
    if (earlier.facts.emitEmpty && !later.facts.emitEmpty) {
      this.written.add(name);
      this.parents.add(parent);
    }
    this.types(earlier.type, later.type, name);
  }

  private types(earlier: Type, later: Type, parent: string): void {
    if (earlier === later) return;
    if (earlier.shape === "list" && later.shape === "list")
      this.types(earlier.element, later.element, parent);
    else if (earlier.shape === "map" && later.shape === "map") this.types(earlier.value, later.value, parent);
    else if (this.isVisited(later, parent)) return;
    else if (earlier.shape === "struct" && later.shape === "struct")
      this.fields(earlier.fields, later.fields, parent);
    else if (earlier.shape === "union" && later.shape === "union")
      this.fields(earlier.forms as Fields, later.forms as Fields, parent);
  }

  private isVisited(type: Type, parent: string): boolean {
    const parents = this.visited.get(type) ?? new Set();
    this.visited.set(type, parents);
    if (parents.has(parent)) return true;
    parents.add(parent);
    return false;
  }
}
