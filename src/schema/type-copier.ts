import { structsIn } from "./structs.ts";
import {
  Field,
  list,
  map,
  type Fields,
  type ResolvedRules,
  type StructType,
  type Type,
  type UnionType,
} from "./types.ts";

/** Returns the fields of a copy, before their types are copied. */
export type ChangeFields = (fields: Fields, type: StructType | UnionType) => Fields;

/** Copies types with other fields. Types may be recursive; a type is copied once, and its fields on first access. */
export class TypeCopier {
  private readonly copies = new WeakMap<Type, Type>();

  /**
   * @param changeFields returns other fields for a struct or a union; it is called once for each.
   * @param changeRules returns other rules for a struct.
   */
  constructor(
    private readonly changeFields: ChangeFields,
    private readonly changeRules: (rules: ResolvedRules) => ResolvedRules = (rules) => rules,
  ) {}

  /** Returns the copy of a struct. */
  struct(type: StructType): StructType {
    return this.copyOf(type) as StructType;
  }

  private copyOf(type: Type): Type {
    let copy = this.copies.get(type);
    if (copy === undefined) this.copies.set(type, (copy = this.copy(type)));
    return copy;
  }

  private copy(type: Type): Type {
    switch (type.shape) {
      case "scalar":
        return type;
      case "list":
        return list(this.copyOf(type.element));
      case "map":
        return map(this.copyOf(type.value));
      case "union":
        return structsIn(type.groupVersion).union(type.name, type.doc, () =>
          this.fields(type.forms as Fields, type),
        );
      case "struct": {
        const { struct, atomicStruct } = structsIn(type.groupVersion);
        const declare = type.atomic ? atomicStruct : struct;
        const rules = this.changeRules(type.rules);
        return declare(type.name, type.doc, () => this.fields(type.fields, type), rules as object);
      }
    }
  }

  private fields(fields: Fields, type: StructType | UnionType): Record<string, Field> {
    const entries = Object.entries(this.changeFields(fields, type)).map(
      ([name, one]) => [name, new Field(this.copyOf(one.type), one.facts)] as const,
    );
    return Object.fromEntries(entries);
  }
}
