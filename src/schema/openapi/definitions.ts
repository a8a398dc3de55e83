import type { CustomKindFacts, Kind } from "../kind.ts";
import { customSchema, preservesUnknown } from "./custom-schema.ts";
import { groupName } from "../kind.ts";
import { ListMeta } from "../object-meta.ts";
import type {
  Field,
  FieldFacts,
  ScalarName,
  StructType,
  Type,
  UnionType,
  VocabularyString,
} from "../types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { zeroOf } from "../scalars.ts";
import type { DefinitionNames } from "./definition-names.ts";
import { namedScalars, plainScalars } from "./scalar-schemas.ts";
import {
  referenceTo,
  sorted,
  type Dialect,
  type GroupVersionKind,
  type SchemaObject,
} from "./schema-object.ts";

/** Gathers the definitions that a document needs; each is made when it is first referred to. */
export class Definitions {
  private readonly made: Record<string, SchemaObject> = {};

  constructor(
    private readonly names: DefinitionNames,
    private readonly vocabulary: Vocabulary,
    readonly dialect: Dialect,
    /** Whether a definition was made before, so that a reference is enough. */
    private readonly isMade: (name: string) => boolean = () => false,
  ) {}

  /** All definitions that were made here so far, by name. */
  get all(): Record<string, SchemaObject> {
    return sorted(this.made);
  }

  /** A reference to a kind's definition. */
  kind(kind: Kind): SchemaObject {
    if (kind.custom !== undefined) return this.customKind(kind, kind.custom);
    return this.struct(kind.type, [this.kindOf(kind)]);
  }

  /** A custom kind is described by its own schema, and what every object has. */
  private customKind(kind: Kind, { schema }: CustomKindFacts): SchemaObject {
    return this.define(this.names.prefixOf(kind) + kind.name, () => {
      const whole = schema() ?? {};
      const { schemaExtensionPrefix: prefix } = this.vocabulary;
      const extension = this.kindExtension([this.kindOf(kind)]);
      // The older dialect has no words for an object that may have anything.
      if (this.dialect === "v2" && preservesUnknown(whole, prefix)) return { type: "object", ...extension };
      const own = customSchema(whole, this.dialect, prefix);
      const entries = Object.entries(kind.type.fields).map(
        ([name, { type, facts }]) => [name, this.with(this.type(type), { description: facts.doc })] as const,
      );
      return {
        ...own,
        type: "object",
        properties: sorted({ ...own.properties, ...Object.fromEntries(entries) }),
        ...extension,
      };
    });
  }

  /** A reference to the definition of a kind's list. */
  list(kind: Kind): SchemaObject {
    const { custom } = kind;
    const name = custom?.listKind ?? `${kind.name}List`;
    // Those of custom kinds have neither a type nor defaults.
    const emptyDefault = custom === undefined ? this.defaultOf({}) : {};
    return this.define(`${this.names.prefixOf(kind)}${name}`, () => ({
      description: `A list of objects of kind ${kind.name}.`,
      ...(custom === undefined ? { type: "object" as const } : {}),
      required: ["items"],
      properties: {
        apiVersion: { type: "string", description: "Group and version of the list's kind." },
        kind: { type: "string", description: "Name of the list's kind." },
        metadata: this.with(this.struct(ListMeta), {
          description: "Metadata of the list.",
          ...emptyDefault,
        }),
        items: {
          type: "array",
          description: "The objects.",
          items: this.with(this.kind(kind), emptyDefault),
        },
      },
      ...this.kindExtension([{ ...this.kindOf(kind), kind: name }]),
    }));
  }

  /** A reference to the definition of a type of no group, which may stand for several kinds. */
  shared(type: StructType, kinds: readonly GroupVersionKind[]): SchemaObject {
    return this.struct(type, kinds);
  }

  /** A reference to the definition of a patch's body. */
  patch(): SchemaObject {
    const description = "Changes to an object, in the form that the content type names.";
    return this.define(`${this.names.metaPrefix}Patch`, () => ({ description, type: "object" }));
  }

  /** Media type of the binary encoding. */
  get protobufMediaType(): string {
    return this.vocabulary.protobufMediaType;
  }

  /** An extension's name. */
  extension(name: string): `x-${string}` {
    return `${this.vocabulary.schemaExtensionPrefix}${name}` as `x-${string}`;
  }

  /** The group, version and kind of a kind. */
  kindOf(kind: Kind): GroupVersionKind {
    return { group: groupName(kind.group, this.vocabulary), kind: kind.name, version: kind.version };
  }

  private kindExtension(kinds: readonly GroupVersionKind[]): SchemaObject {
    return kinds.length === 0 ? {} : { [this.extension("group-version-kind")]: kinds };
  }

  private define(name: string, make: () => SchemaObject): SchemaObject {
    if (!Object.hasOwn(this.made, name) && !this.isMade(name)) {
      this.made[name] = {};
      this.made[name] = make();
    }
    return { $ref: referenceTo(name, this.dialect) };
  }

  private struct(type: StructType, kinds: readonly GroupVersionKind[] = []): SchemaObject {
    return this.define(this.names.prefixOf(type.groupVersion) + type.name, () => {
      const entries = Object.entries(type.fields);
      const required = entries.filter(([, field]) => field.facts.required).map(([name]) => name);
      const properties = Object.fromEntries(entries.map(([name, field]) => [name, this.field(field)]));
      return {
        description: type.doc,
        type: "object",
        ...(required.length === 0 ? {} : { required: required.toSorted() }),
        ...(entries.length === 0 ? {} : { properties: sorted(properties) }),
        ...this.kindExtension(kinds),
        ...(type.atomic ? { [this.extension("map-type")]: "atomic" } : {}),
      };
    });
  }

  private field({ type, facts }: Field): SchemaObject {
    const values = facts.oneOf?.map((word) => this.word(word));
    return this.with(this.type(type), {
      description: facts.doc,
      ...(values === undefined || type.shape !== "scalar" ? {} : { enum: values.toSorted() }),
      ...this.defaultOf(publishedDefault(type, facts)),
      ...this.mergeFacts(facts),
    });
  }

  private mergeFacts(facts: FieldFacts): SchemaObject {
    const found: SchemaObject = {};
    const { listType, listMapKeys, mapType, patchStrategy, patchMergeKey } = facts;
    if (listMapKeys.length > 0) found[this.extension("list-map-keys")] = listMapKeys;
    if (listType !== undefined) found[this.extension("list-type")] = listType;
    if (mapType !== undefined) found[this.extension("map-type")] = mapType;
    if (patchMergeKey !== undefined) found[this.extension("patch-merge-key")] = patchMergeKey;
    if (patchStrategy.length > 0) found[this.extension("patch-strategy")] = patchStrategy.join(",");
    return found;
  }

  private type(type: Type): SchemaObject {
    switch (type.shape) {
      case "scalar":
        return this.scalar(type.name);
      case "struct":
        return this.struct(type);
      case "union":
        return this.union(type);
      case "list":
        return { type: "array", items: this.element(type.element) };
      case "map":
        return { type: "object", additionalProperties: this.element(type.value) };
    }
  }

  private element(type: Type): SchemaObject {
    const zero =
      type.shape === "scalar" && type.name !== "object" && type.name !== "json"
        ? zeroOf(type.name)
        : undefined;
    return this.with(this.type(type), this.defaultOf(type.shape === "struct" ? {} : (zero ?? undefined)));
  }

  /** A value of several forms has a definition that says nothing of them, as clients of the reference know it. */
  private union({ groupVersion, name, doc }: UnionType): SchemaObject {
    return this.define(this.names.prefixOf(groupVersion) + name, () => ({ description: doc }));
  }

  private scalar(name: ScalarName): SchemaObject {
    const named = namedScalars[name];
    if (named === undefined) return { ...plainScalars[name] };
    return this.define(this.names.machinery(named.name), () => named[this.dialect]);
  }

  /** A schema with more facts; beside a reference OpenAPI 3.0 allows none, so there the reference is wrapped. */
  private with(schema: SchemaObject, facts: SchemaObject): SchemaObject {
    if (schema.$ref === undefined || this.dialect === "v2") return { ...facts, ...schema };
    return Object.keys(facts).length === 0 ? schema : { ...facts, allOf: [schema] };
  }

  /** Only the newer dialect publishes defaults: clients of the older one take them for rules. */
  private defaultOf(value: unknown): SchemaObject {
    return value === undefined || this.dialect === "v2" ? {} : { default: value };
  }

  private word(word: VocabularyString): string {
    return typeof word === "string" ? word : word(this.vocabulary);
  }
}

/** The default of a field that is always written is its zero value, unless its line says more. */
function publishedDefault(type: Type, facts: FieldFacts): unknown {
  const { default: given, publishesDefault, emitEmpty, nullable } = facts;
  if (publishesDefault) return given;
  if (!emitEmpty || nullable) return undefined;
  if (type.shape === "struct") return {};
  if (type.shape !== "scalar") return undefined;
  return type.name === "time" || type.name === "microTime" ? {} : (zeroOf(type.name) ?? undefined);
}
