import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { KindContext } from "./context.ts";
import type { SchemaNode } from "./custom/schema-node.ts";
import type { FieldReport } from "./faults.ts";

/**
 * The language in which kinds are declared. A declaration is plain data: decoding, defaulting, validation, the binary
 * encoding, merging and OpenAPI are derived from it by the other files of this folder, and its static type by
 * {@link Static}.
 */
export type Type = ScalarType | ListType | MapType | StructType | UnionType;

/** Names of the scalar types; `json` holds any JSON value, `object` any JSON object with its own kind. */
export type ScalarName =
  | "string"
  | "bool"
  | "int32"
  | "int64"
  | "double"
  | "bytes"
  | "time"
  | "microTime"
  | "duration"
  | "quantity"
  | "intOrString"
  | "json"
  | "object"
  | "fieldsV1";

declare const staticType: unique symbol;

export interface ScalarType<T = unknown> {
  readonly shape: "scalar";
  readonly name: ScalarName;
  readonly [staticType]?: T;
}

export interface ListType<E extends Type = Type> {
  readonly shape: "list";
  readonly element: E;
}

export interface MapType<V extends Type = Type> {
  readonly shape: "map";
  readonly value: V;
}

/** The group version in which a struct is declared. */
export interface GroupVersion {
  readonly group: Group;
  readonly version: string;
}

/** An API group, named without the product's suffix. */
export interface Group {
  /** For example `rbac.authorization`; empty for the core group. */
  readonly base: string;
  /** Whether the vocabulary's suffix is part of the name (`apps`, `batch`, … carry none). */
  readonly suffixed: boolean;
}

/** The forms that a value of a union can have in JSON. */
export type UnionForm = "object" | "list" | "bool";

/** A value whose JSON form says which of several types it has; on the binary wire each has its own number. */
export interface UnionType<F extends Partial<Record<UnionForm, Field>> = Partial<Record<UnionForm, Field>>> {
  readonly shape: "union";
  readonly name: string;
  readonly doc: string;
  readonly forms: F;
  readonly groupVersion: GroupVersion;
}

export type Fields = Readonly<Record<string, Field>>;

export interface StructType<F extends Fields = Fields> {
  readonly shape: "struct";
  readonly name: string;
  readonly doc: string;
  readonly groupVersion: GroupVersion;
  /** The fields by JSON name, in the order in which they are written; computed when first asked for. */
  readonly fields: F;
  /** Merged and owned as one unit by apply. */
  readonly atomic: boolean;
  readonly rules: StructRules<Record<string, unknown>>;
  /** The members that it has beside its fields; only the objects of custom kinds have some. */
  readonly open: SchemaNode | undefined;
}

/** What concerns a struct as a whole, wherever it is used. */
export interface StructRules<V> {
  /** Fills in defaults that need more than a field's own line; runs before those of the structs inside. */
  readonly fill?: (copy: V, context: KindContext) => void;
  /** Checks fields against each other. */
  readonly check?: (value: V, place: FieldReport, context: KindContext) => void;
}

/** A rule that the value of one field must keep. It is asked about values that are there and not `""`. */
export type FieldCheck<V = never> = (value: V, place: FieldReport, context: KindContext) => void;

/** A word that may depend on the vocabulary. */
export type Word = string | ((vocabulary: Vocabulary) => string);

/** What a field's line says beyond its type. */
export interface FieldFacts {
  /** Number on the binary wire; undefined for fields that exist in JSON only. */
  readonly number: number | undefined;
  /** Numbers of the messages inside which the field is in protobuf, the outermost first; JSON shows it flat. */
  readonly inside: readonly number[];
  readonly doc: string;
  /** In the published list of required fields. */
  readonly required: boolean;
  /** Absent, null or `""` is refused with `Required value`. */
  readonly mustBeGiven: boolean;
  /** Written to JSON even when empty: lists and times as null, structs as `{}`, scalars as their zero value. */
  readonly emitEmpty: boolean;
  /** Absent differs from the zero value, so a zero value that was given is kept. */
  readonly nullable: boolean;
  /** Applied when the field is absent. */
  readonly default: unknown;
  /** Whether the published schema has the default. */
  readonly publishesDefault: boolean;
  /** The field is dropped unless this feature gate is on or the object already has it. */
  readonly gate: string | undefined;
  /** The value that takes the place of the given one while the gate is off; undefined where the field is dropped. */
  readonly gatedTo: unknown;
  readonly check: FieldCheck | undefined;
  /**
   * Whether the rules are asked of an empty text too, which else counts as absent; undefined where the type decides: they are
   * for a closed set of a field that may be null, since there absence is said by null.
   */
  readonly checkedWhenEmpty: boolean | undefined;
  /** Closed set of values. */
  readonly oneOf: readonly Word[] | undefined;
  /** Only the line's own rule is asked; what is published about the values at and below the field isn't enforced. */
  readonly unchecked: boolean;
  /** Values with a meaning, where others are allowed too. */
  readonly known: readonly Word[] | undefined;
  /** How apply merges a list. */
  readonly listType: "atomic" | "set" | "map" | undefined;
  readonly listMapKeys: readonly string[];
  /** How apply merges a map or struct. */
  readonly mapType: "atomic" | "granular" | undefined;
  /** How a strategic merge patch treats the field. */
  readonly patchStrategy: readonly ("merge" | "replace" | "retainKeys")[];
  readonly patchMergeKey: string | undefined;
}

const plainFacts: Omit<FieldFacts, "number" | "doc"> = {
  inside: [],
  required: false,
  mustBeGiven: false,
  emitEmpty: false,
  nullable: false,
  default: undefined,
  publishesDefault: false,
  gate: undefined,
  check: undefined,
  gatedTo: undefined,
  checkedWhenEmpty: undefined,
  oneOf: undefined,
  unchecked: false,
  known: undefined,
  listType: undefined,
  listMapKeys: [],
  mapType: undefined,
  patchStrategy: [],
  patchMergeKey: undefined,
};

/** A field: its type, its facts, and words that add facts. Each word gives a new field. */
export class Field<T extends Type = Type, Required extends boolean = boolean> {
  declare readonly requiredMark: Required;
  constructor(
    readonly type: T,
    readonly facts: FieldFacts,
  ) {}

  /** Must be given. In JSON it is always written. */
  required(): Field<T, true> {
    return this.with({ required: true, mustBeGiven: true, emitEmpty: true }) as Field<T, true>;
  }

  /** Published as required and always written, though the server takes its zero value too. */
  declaredRequired(): Field<T, true> {
    return this.with({ required: true, emitEmpty: true }) as Field<T, true>;
  }

  /** Must be given, though the published schema doesn't say so. */
  mustBeGiven(): Field<T, Required> {
    return this.with({ mustBeGiven: true });
  }

  /** Always written, also when empty. */
  emitEmpty(): Field<T, Required> {
    return this.with({ emitEmpty: true });
  }

  /** Absent and zero are two things (a pointer in the reference). */
  nullable(): Field<T, Required> {
    return this.with({ nullable: true });
  }

  /** The published default. */
  default(value: unknown): Field<T, Required> {
    return this.with({ default: value, publishesDefault: true });
  }

  /** What the server fills in when the field is absent, without saying so in the published schema. */
  filled(value: unknown): Field<T, Required> {
    return this.with({ default: value });
  }

  /** Known only where this feature gate is on. @param to what another value becomes elsewhere; left out, the field is dropped. */
  gated(gate: string, to?: unknown): Field<T, Required> {
    return this.with({ gate, gatedTo: to });
  }

  /** The field as it stands in a struct that shows the fields of another one flat; see {@link inlined}. */
  inside(number: number): Field<T, Required> {
    return this.with({ inside: [number, ...this.facts.inside] });
  }

  /** A rule that the value must keep; several are asked one after the other. */
  check(rule: FieldCheck<Static<T>>): Field<T, Required> {
    return this.with({ check: bothChecks(this.facts.check, rule as unknown as FieldCheck) });
  }

  /** Whether an empty text that is given is checked as any other. */
  checkedWhenEmpty(checkedWhenEmpty = true): Field<T, Required> {
    return this.with({ checkedWhenEmpty });
  }

  /** Only these values are accepted. */
  oneOf(...values: readonly Word[]): Field<T, Required> {
    return this.with({ oneOf: values });
  }

  /**
   * The published rules of the values at and below the field aren't enforced, as the reference publishes them without
   * asking; the line's own `check` is.
   */
  unchecked(): Field<T, Required> {
    return this.with({ unchecked: true });
  }

  /** These values have a meaning; others are accepted. */
  known(...values: readonly Word[]): Field<T, Required> {
    return this.with({ known: values });
  }

  /** A list that apply owns as one. */
  atomic(): Field<T, Required> {
    return this.type.shape === "list" ? this.with({ listType: "atomic" }) : this.with({ mapType: "atomic" });
  }

  /** A list of unique scalars that apply merges item by item. */
  set(): Field<T, Required> {
    return this.with({ listType: "set" });
  }

  /** A list that apply merges by these keys. */
  mapBy(...keys: readonly string[]): Field<T, Required> {
    return this.with({ listType: "map", listMapKeys: keys });
  }

  granular(): Field<T, Required> {
    return this.with({ mapType: "granular" });
  }

  /** A strategic merge patch merges this list (by `key`, or as scalars) instead of replacing it. */
  patchMerge(key?: string): Field<T, Required> {
    return this.with({ patchStrategy: [...this.facts.patchStrategy, "merge"], patchMergeKey: key });
  }

  /** A strategic merge patch replaces this object as a whole. */
  patchReplace(): Field<T, Required> {
    return this.with({ patchStrategy: [...this.facts.patchStrategy, "replace"] });
  }

  /** A strategic merge patch drops the members that the patch doesn't list under `$retainKeys`. */
  patchRetainKeys(): Field<T, Required> {
    return this.with({ patchStrategy: [...this.facts.patchStrategy, "retainKeys"] });
  }

  private with(change: Partial<FieldFacts>): Field<T, Required> {
    return new Field<T, Required>(this.type, { ...this.facts, ...change });
  }
}

function bothChecks(first: FieldCheck | undefined, second: FieldCheck): FieldCheck {
  if (first === undefined) return second;
  return (value, place, context) => {
    first(value, place, context);
    second(value, place, context);
  };
}

/** A field with its wire number (undefined: JSON only), type and description. */
export function field<T extends Type>(number: number | undefined, type: T, doc: string): Field<T, false> {
  return new Field<T, false>(type, { ...plainFacts, number, doc });
}

/**
 * The fields of another struct, shown flat in JSON; on the binary wire they stand in a message of their own under the
 * given number. Spread the result among the fields.
 */
export function inlined<F extends Fields>(number: number, type: StructType<F>): F {
  const entries = Object.entries(type.fields).map(([name, one]) => [name, one.inside(number)]);
  return Object.fromEntries(entries) as F;
}

export function list<E extends Type>(element: E): ListType<E> {
  return { shape: "list", element };
}

/** An object with free keys and values of one type. */
export function map<V extends Type>(value: V): MapType<V> {
  return { shape: "map", value };
}

function scalar<T>(name: ScalarName): ScalarType<T> {
  return { shape: "scalar", name };
}

export const string = scalar<string>("string");
export const bool = scalar<boolean>("bool");
export const int32 = scalar<number>("int32");
/** An integer of 64 bits: a `bigint` where a number can't hold it exactly. */
export const int64 = scalar<number | bigint>("int64");
/** A number; an integer that a number can't hold exactly is a `bigint`. */
export const double = scalar<number | bigint>("double");
/** Base64 text in JSON. */
export const bytes = scalar<string>("bytes");
/** RFC 3339 text with seconds, in UTC. */
export const time = scalar<string>("time");
/** RFC 3339 text with microseconds, in UTC. */
export const microTime = scalar<string>("microTime");
/** A length of time such as `1h30m`. */
export const duration = scalar<string>("duration");
/** An exact number with a unit, such as `100m` or `2Gi`. */
export const quantity = scalar<string>("quantity");
export const intOrString = scalar<number | string>("intOrString");
/** Any JSON value. */
export const json = scalar<unknown>("json");
/** Any JSON object that names its own apiVersion and kind. */
export const object = scalar<Record<string, unknown>>("object");
/** A set of field paths, as nested objects. */
export const fieldsV1 = scalar<Record<string, unknown>>("fieldsV1");

/** The TypeScript type of the values of a declared type. */
export type Static<T> =
  T extends ScalarType<infer S>
    ? S
    : T extends ListType<infer E>
      ? Static<E>[]
      : T extends MapType<infer V>
        ? Record<string, Static<V>>
        : T extends StructType<infer F>
          ? StaticFields<F>
          : T extends UnionType<infer U>
            ? StaticField<U[keyof U]>
            : never;

export type StaticFields<F extends Fields> = {
  -readonly [K in keyof F as F[K] extends Field<Type, true> ? K : never]: StaticField<F[K]>;
} & {
  -readonly [K in keyof F as F[K] extends Field<Type, true> ? never : K]?: StaticField<F[K]> | undefined;
};

type StaticField<F> = F extends Field<infer T, boolean> ? Static<T> : never;
