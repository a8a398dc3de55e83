import { defaultRelease, type Release } from "../base/releases.ts";
import type { SchemaNode } from "./custom/schema-node.ts";
import type { AddedFields } from "./added-fields.ts";
import { haveRows, ruleInRelease } from "./rules.ts";
import type {
  Field,
  Fields,
  GroupVersion,
  LaterFields,
  ResolvedRules,
  StaticFields,
  StructRules,
  StructType,
  UnionForm,
  UnionType,
} from "./types.ts";

/** Declares an object type. `fields` is a function if it refers to types that are declared later, or to the type itself. */
export type DeclareStruct = <F extends Fields, const L extends LaterFields = Record<never, never>>(
  name: string,
  doc: string,
  fields: F | (() => F),
  rules?: StructRules<StaticFields<NoInfer<F & AddedFields<L>>>, L>,
) => StructType<F & AddedFields<L>>;

/** Declares a union type: the JSON type of a value selects one of the forms. */
export type DeclareUnion = <F extends Partial<Record<UnionForm, Field>>>(
  name: string,
  doc: string,
  forms: () => F,
) => UnionType<F>;

/** Returns functions that declare the structs of a group version. */
export function structsIn(groupVersion: GroupVersion): {
  readonly struct: DeclareStruct;
  /** As `struct`, for a type that apply treats as atomic. */
  readonly atomicStruct: DeclareStruct;
  readonly union: DeclareUnion;
} {
  return {
    struct: declare(groupVersion, false),
    atomicStruct: declare(groupVersion, true),
    union: (name, doc, forms) => new LazyUnion(groupVersion, name, doc, forms),
  };
}

function declare(groupVersion: GroupVersion, atomic: boolean): DeclareStruct {
  const declareStruct = (name: string, doc: string, fields: Fields | (() => Fields), rules?: unknown) =>
    new LazyStruct(groupVersion, name, doc, fields, atomic, rules);
  // The static type has the later fields too, which only copies for their releases have.
  return declareStruct as DeclareStruct;
}

/** Returns the type of custom objects: `fields`, and members by a schema that is parsed on demand. */
export function openStruct(
  groupVersion: GroupVersion,
  name: string,
  doc: string,
  fields: Fields,
  open: () => SchemaNode,
): StructType {
  return new LazyStruct(groupVersion, name, doc, fields, false, {}, open);
}

/** Returns the rules of a struct in a release. */
export function rulesInRelease(
  declared: StructRules<Record<string, unknown>> | ResolvedRules,
  release: Release,
): ResolvedRules {
  const rules = ("released" in declared ? declared.released : declared) as StructRules<
    Record<string, unknown>
  >;
  const { fill, check } = rules;
  if (fill === undefined && check === undefined) return rules as ResolvedRules;
  return {
    ...rules,
    ...(fill && { fill: ruleInRelease(fill, release, { context: 1 }) }),
    ...(check && { check: ruleInRelease(check, release, { context: 2 }) }),
    ...((haveRows(fill) || haveRows(check)) && { released: rules }),
  } as ResolvedRules;
}

class LazyStruct<F extends Fields> implements StructType<F> {
  readonly shape = "struct";
  readonly rules: ResolvedRules;
  private cached: F | undefined;
  constructor(
    readonly groupVersion: GroupVersion,
    readonly name: string,
    readonly doc: string,
    private readonly source: F | (() => F),
    readonly atomic: boolean,
    rules: unknown = {},
    private readonly schema?: () => SchemaNode,
  ) {
    const declared = rules as StructRules<Record<string, unknown>> | ResolvedRules;
    // Those of a copy are resolved for its release.
    this.rules = "released" in declared ? declared : rulesInRelease(declared, defaultRelease);
  }
  get open(): SchemaNode | undefined {
    return this.schema?.();
  }
  get fields(): F {
    return (this.cached ??= typeof this.source === "function" ? this.source() : this.source);
  }
}

class LazyUnion<F extends Partial<Record<UnionForm, Field>>> implements UnionType<F> {
  readonly shape = "union";
  private cached: F | undefined;
  constructor(
    readonly groupVersion: GroupVersion,
    readonly name: string,
    readonly doc: string,
    private readonly source: () => F,
  ) {}
  get forms(): F {
    return (this.cached ??= this.source());
  }
}
