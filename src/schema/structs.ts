import type { SchemaNode } from "./custom/schema-node.ts";
import type {
  Field,
  Fields,
  GroupVersion,
  StaticFields,
  StructRules,
  StructType,
  UnionForm,
  UnionType,
} from "./types.ts";

/** An object type. Give the fields as a function where they refer to types declared later, or to the type itself. */
export type DeclareStruct = <F extends Fields>(
  name: string,
  doc: string,
  fields: F | (() => F),
  rules?: StructRules<StaticFields<NoInfer<F>>>,
) => StructType<F>;

/** A type whose JSON form says which of the given types it is. */
export type DeclareUnion = <F extends Partial<Record<UnionForm, Field>>>(
  name: string,
  doc: string,
  forms: () => F,
) => UnionType<F>;

/** The words with which the structs of a group version are declared. */
export function structsIn(groupVersion: GroupVersion): {
  readonly struct: DeclareStruct;
  /** As `struct`, for a type that apply owns as one. */
  readonly atomicStruct: DeclareStruct;
  readonly union: DeclareUnion;
} {
  return {
    struct: (name, doc, fields, rules) => new LazyStruct(groupVersion, name, doc, fields, false, rules),
    atomicStruct: (name, doc, fields, rules) => new LazyStruct(groupVersion, name, doc, fields, true, rules),
    union: (name, doc, forms) => new LazyUnion(groupVersion, name, doc, forms),
  };
}

/** The type of objects that have further members beside these fields, by a schema that is read when it is needed. */
export function openStruct(
  groupVersion: GroupVersion,
  name: string,
  doc: string,
  fields: Fields,
  open: () => SchemaNode,
): StructType {
  return new LazyStruct(groupVersion, name, doc, fields, false, {}, open);
}

class LazyStruct<F extends Fields> implements StructType<F> {
  readonly shape = "struct";
  readonly rules: StructRules<Record<string, unknown>>;
  private known: F | undefined;
  constructor(
    readonly groupVersion: GroupVersion,
    readonly name: string,
    readonly doc: string,
    private readonly source: F | (() => F),
    readonly atomic: boolean,
    rules: unknown = {},
    private readonly schema?: () => SchemaNode,
  ) {
    this.rules = rules as StructRules<Record<string, unknown>>;
  }
  get open(): SchemaNode | undefined {
    return this.schema?.();
  }
  get fields(): F {
    return (this.known ??= typeof this.source === "function" ? this.source() : this.source);
  }
}

class LazyUnion<F extends Partial<Record<UnionForm, Field>>> implements UnionType<F> {
  readonly shape = "union";
  private known: F | undefined;
  constructor(
    readonly groupVersion: GroupVersion,
    readonly name: string,
    readonly doc: string,
    private readonly source: () => F,
  ) {}
  get forms(): F {
    return (this.known ??= this.source());
  }
}
