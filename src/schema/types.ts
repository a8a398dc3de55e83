import type { Released, Row } from "../base/release-rows.ts";
import { defaultRelease, type Release } from "../base/releases.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { KindContext } from "./context.ts";
import type { SchemaNode } from "./custom/schema-node.ts";
import type { FieldReport } from "./faults.ts";
import { haveRows, listOf, ruleInRelease, type RuleOf, type Rules } from "./rules.ts";

/**
 * The types of kind declarations. A declaration is plain data: decoding, defaulting, validation, protobuf, merging and OpenAPI
 * are derived from it by the other files of this folder, and its static type by {@link Static}.
 */
export type Type = ScalarType | ListType | MapType | StructType | UnionType;

/** Names of the scalar types; `json` is any JSON value, `object` any JSON object with apiVersion and kind. */
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

/** An API group; its name may get the suffix of the vocabulary. */
export interface Group {
  /** For example `rbac.authorization`; empty for the core group. */
  readonly base: string;
  /** Whether the suffix of the vocabulary is added (false for `apps`, `batch`, …). */
  readonly suffixed: boolean;
}

/** The JSON types of the values of a union. */
export type UnionForm = "object" | "list" | "bool";

/** A type whose values have one of several types, selected by their JSON type; in protobuf each form has its own field number. */
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
  /** The fields by JSON name, in the order in which they are written; computed on first access. */
  readonly fields: F;
  /** Merged and owned as one unit by apply. */
  readonly atomic: boolean;
  readonly rules: ResolvedRules;
  /** Schema of additional members; only for custom kinds. */
  readonly open: SchemaNode | undefined;
}

/** Rules of a struct, wherever it is used. */
export interface StructRules<V, L extends LaterFields = LaterFields> {
  /** Sets defaults that depend on several fields; runs before the defaults of the structs inside. */
  readonly fill?: Rules<(copy: V, context: KindContext) => void>;
  /** Validates rules that depend on several fields. */
  readonly check?: Rules<(value: V, report: FieldReport, context: KindContext) => void>;
  /** Fields of later releases. */
  readonly later?: () => L;
}

/** The rules of a struct in one release; `released` has the declared ones if some are rows. */
export type ResolvedRules<R = StructRules<Record<string, unknown>>> = {
  readonly [K in keyof R]: K extends "later" ? R[K] : RuleOf<R[K]> | undefined;
} & { readonly released?: R };

/** The fields that releases add, replace or remove, by JSON name. The last row of a release counts; undefined removes the field. */
export type LaterFields = Readonly<Record<string, LaterField | readonly LaterField[]>>;
type LaterField = Row<Field | undefined>;

/** A validation rule of one field. It is only called for values that are present and not `""`. */
export type FieldCheck<V = never> = (value: V, report: FieldReport, context: KindContext) => void;

/** A string, or a function if it depends on the vocabulary. */
export type VocabularyString = string | ((vocabulary: Vocabulary) => string);

/** Properties of a field besides its type. */
export interface FieldFacts {
  /** Field number in protobuf; undefined for fields that exist only in JSON. */
  readonly number: number | undefined;
  /** Field numbers of the protobuf messages that contain the field, outermost first; in JSON it is inlined. */
  readonly inside: readonly number[];
  readonly doc: string;
  /** Whether the published schema lists the field as required. */
  readonly required: boolean;
  /** Whether an absent, null or `""` value is rejected with `Required value`. */
  readonly mustBeGiven: boolean;
  /** Whether an empty value is written to JSON: lists and times as null, structs as `{}`, scalars as their zero value. */
  readonly emitEmpty: boolean;
  /** Whether absent differs from the zero value (a pointer in Go), so that a zero value is kept. */
  readonly nullable: boolean;
  /** Default of an absent field. */
  readonly default: unknown;
  /** Whether the default is in the published schema. */
  readonly publishesDefault: boolean;
  /** The field is dropped unless this feature gate is on or the live object has it. */
  readonly gate: string | undefined;
  /** Value of the field while the gate is off; undefined if the field is dropped. */
  readonly gatedTo: unknown;
  readonly check: FieldCheck | undefined;
  /** The declared rules if some are rows. */
  readonly releasedCheck: Rules<FieldCheck> | undefined;
  /**
   * Whether the rules apply to an empty string, which otherwise counts as absent. Undefined: only for a nullable field with
   * allowed values, where null means absent.
   */
  readonly checkedWhenEmpty: boolean | undefined;
  /** Allowed values. */
  readonly oneOf: readonly VocabularyString[] | undefined;
  /** Only `check` is enforced; the published rules of the value and its parts are not. */
  readonly unchecked: boolean;
  /** Values with a defined meaning; others are allowed too. */
  readonly knownValues: readonly VocabularyString[] | undefined;
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
  releasedCheck: undefined,
  gatedTo: undefined,
  checkedWhenEmpty: undefined,
  oneOf: undefined,
  unchecked: false,
  knownValues: undefined,
  listType: undefined,
  listMapKeys: [],
  mapType: undefined,
  patchStrategy: [],
  patchMergeKey: undefined,
};

/** A field: its type, its properties, and methods that return a copy with another property. */
export class Field<T extends Type = Type, Required extends boolean = boolean> {
  declare readonly requiredMark: Required;
  constructor(
    readonly type: T,
    readonly facts: FieldFacts,
  ) {}

  /** Required, and always written to JSON. */
  required(): Field<T, true> {
    return this.with({ required: true, mustBeGiven: true, emitEmpty: true }) as Field<T, true>;
  }

  /** Published as required and always written, but the zero value is accepted. */
  declaredRequired(): Field<T, true> {
    return this.with({ required: true, emitEmpty: true }) as Field<T, true>;
  }

  /** Published as required, without another effect; for a field that validation requires. */
  publishedRequired(): Field<T, Required> {
    return this.with({ required: true });
  }

  /** Required, but not published as required. */
  mustBeGiven(): Field<T, Required> {
    return this.with({ mustBeGiven: true });
  }

  /** Always written to JSON, also if empty. */
  emitEmpty(): Field<T, Required> {
    return this.with({ emitEmpty: true });
  }

  /** Absent differs from the zero value (a pointer in Go). */
  nullable(): Field<T, Required> {
    return this.with({ nullable: true });
  }

  /** Sets a default that is published in the schema. */
  default(value: unknown): Field<T, Required> {
    return this.with({ default: value, publishesDefault: true });
  }

  /** Sets a default that isn't published in the schema. */
  unpublishedDefault(value: unknown): Field<T, Required> {
    return this.with({ default: value });
  }

  /** Enables the field by a feature gate. @param to value of the field while the gate is off; without it the field is dropped. */
  gated(gate: string, to?: unknown): Field<T, Required> {
    return this.with({ gate, gatedTo: to });
  }

  /** The field as part of an inlined struct; see {@link inlined}. */
  inside(number: number): Field<T, Required> {
    return this.with({ inside: [number, ...this.facts.inside] });
  }

  /** Adds a validation rule, of some releases if it is a row; several rules run in order. */
  check(rule: Released<FieldCheck<Static<T>>>): Field<T, Required> {
    const all = [
      ...listOf(this.facts.releasedCheck ?? this.facts.check),
      rule as unknown as Released<FieldCheck>,
    ];
    return this.withChecks(all, defaultRelease);
  }

  /** The field with its rules in a release. */
  inRelease(release: Release): Field<T, Required> {
    const { releasedCheck } = this.facts;
    return releasedCheck === undefined ? this : this.withChecks(releasedCheck, release);
  }

  /** Whether the rules apply to an empty string. */
  checkedWhenEmpty(checkedWhenEmpty = true): Field<T, Required> {
    return this.with({ checkedWhenEmpty });
  }

  /** Allows only these values. */
  oneOf(...values: readonly VocabularyString[]): Field<T, Required> {
    return this.with({ oneOf: values });
  }

  /**
   * Disables the published rules of the value and its parts, which Kubernetes publishes but doesn't enforce. `check` is
   * still enforced.
   */
  unchecked(): Field<T, Required> {
    return this.with({ unchecked: true });
  }

  /** Documents values with a defined meaning; others are accepted too. */
  knownValues(...values: readonly VocabularyString[]): Field<T, Required> {
    return this.with({ knownValues: values });
  }

  /** A list, map or struct that apply treats as atomic. */
  atomic(): Field<T, Required> {
    return this.type.shape === "list" ? this.with({ listType: "atomic" }) : this.with({ mapType: "atomic" });
  }

  /** A list of unique scalars that apply merges per item. */
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

  /** A strategic merge patch removes the fields that aren't listed in `$retainKeys`. */
  patchRetainKeys(): Field<T, Required> {
    return this.with({ patchStrategy: [...this.facts.patchStrategy, "retainKeys"] });
  }

  private withChecks(rules: Rules<FieldCheck>, release: Release): Field<T, Required> {
    const check = ruleInRelease(rules, release, { context: 2 });
    return this.with({ check, releasedCheck: haveRows(rules) ? rules : undefined });
  }

  private with(change: Partial<FieldFacts>): Field<T, Required> {
    return new Field<T, Required>(this.type, { ...this.facts, ...change });
  }
}

/** Declares a field with protobuf number (undefined: JSON only), type and description. */
export function field<T extends Type>(number: number | undefined, type: T, doc: string): Field<T, false> {
  return new Field<T, false>(type, { ...plainFacts, number, doc });
}

/**
 * Returns the fields of another struct to spread among the fields. They are inlined in JSON; in protobuf they are a message with
 * the field number.
 */
export function inlined<F extends Fields>(number: number, type: StructType<F>): F {
  const entries = Object.entries(type.fields).map(([name, one]) => [name, one.inside(number)]);
  return Object.fromEntries(entries) as F;
}

export function list<E extends Type>(element: E): ListType<E> {
  return { shape: "list", element };
}

/** A map with string keys. */
export function map<V extends Type>(value: V): MapType<V> {
  return { shape: "map", value };
}

function scalar<T>(name: ScalarName): ScalarType<T> {
  return { shape: "scalar", name };
}

export const string = scalar<string>("string");
export const bool = scalar<boolean>("bool");
export const int32 = scalar<number>("int32");
/** A 64-bit integer; a `bigint` outside of the safe range of `number`. */
export const int64 = scalar<number | bigint>("int64");
/** A number; an integer outside of the safe range of `number` is a `bigint`. */
export const double = scalar<number | bigint>("double");
/** Bytes; base64 in JSON. */
export const bytes = scalar<string>("bytes");
/** A time in RFC 3339 with seconds, in UTC. */
export const time = scalar<string>("time");
/** A time in RFC 3339 with microseconds, in UTC. */
export const microTime = scalar<string>("microTime");
/** A duration such as `1h30m`. */
export const duration = scalar<string>("duration");
/** A quantity such as `100m` or `2Gi`. */
export const quantity = scalar<string>("quantity");
export const intOrString = scalar<number | string>("intOrString");
/** Any JSON value. */
export const json = scalar<unknown>("json");
/** Any JSON object with apiVersion and kind. */
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
