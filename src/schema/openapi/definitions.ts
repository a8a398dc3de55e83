import type { Release } from "../../base/releases.ts";
import type { CustomKindFacts } from "../custom-kind-facts.ts";
import { type Kind, groupName } from "../kind.ts";
import { customSchema, preservesUnknown } from "./custom-schema.ts";
import { structInRelease } from "../kind-in-release.ts";
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
import {
  referenceTo,
  sortByName,
  type Dialect,
  type GroupVersionKind,
  type SchemaObject,
} from "./schema-object.ts";

/** Collects the definitions of a document; each is created at the first reference. */
export class Definitions {
  private readonly definitions: Record<string, SchemaObject> = {};

  constructor(
    private readonly names: DefinitionNames,
    readonly vocabulary: Vocabulary,
    readonly dialect: Dialect,
    readonly release: Release,
    /** Whether fields of built-in kinds have their allowed values. */
    private readonly hasEnums: boolean,
    /** Whether another document part already contains a definition, so that only a reference is needed. */
    private readonly isDefined: (name: string) => boolean = () => false,
  ) {}

  /** All created definitions, by name. */
  get all(): Record<string, SchemaObject> {
    return sortByName(this.definitions);
  }

  /** Returns a reference to the definition of a kind. */
  kind(kind: Kind): SchemaObject {
    if (kind.custom !== undefined) return this.customKind(kind, kind.custom);
    return this.struct(kind.type, [this.kindOf(kind)]);
  }

  /** Defines a custom kind by its schema and the fields of every object. */
  private customKind(kind: Kind, { schema }: CustomKindFacts): SchemaObject {
    return this.define(this.names.prefixOf(kind) + kind.name, () => {
      const schemaObject = schema() ?? {};
      const { schemaExtensionPrefix: prefix } = this.vocabulary;
      const extension = this.kindExtension([this.kindOf(kind)]);
      // OpenAPI 2.0 can't describe an object with unknown fields.
      if (this.dialect === "v2" && preservesUnknown(schemaObject, prefix))
        return { type: "object", ...extension };
      const customProperties = customSchema(schemaObject, this.dialect, prefix);
      const entries = Object.entries(kind.type.fields).map(
        ([name, { type, facts }]) => [name, this.with(this.type(type), { description: facts.doc })] as const,
      );
      return {
        ...customProperties,
        type: "object",
        properties: sortByName({ ...customProperties.properties, ...Object.fromEntries(entries) }),
        ...extension,
        ...this.selectableExtension(kind),
      };
    });
  }

  /** Returns a reference to the definition of the list of a kind. */
  list(kind: Kind): SchemaObject {
    const { custom } = kind;
    const name = custom?.listKind ?? `${kind.name}List`;
    // As in Kubernetes, lists of custom kinds have neither type nor defaults.
    const emptyDefault = custom === undefined ? this.defaultOf({}) : {};
    return this.define(`${this.names.prefixOf(kind)}${name}`, () => ({
      description: `A list of objects of kind ${kind.name}.`,
      ...(custom === undefined ? { type: "object" as const } : {}),
      required: ["items"],
      properties: {
        apiVersion: { type: "string", description: "Group and version of the list's kind." },
        kind: { type: "string", description: "Name of the list's kind." },
        metadata: this.with(this.shared(ListMeta), {
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

  /** Returns a reference to the definition of a shared type, such as Status or DeleteOptions, with all its kinds. */
  shared(type: StructType, kinds?: readonly GroupVersionKind[]): SchemaObject {
    return this.struct(structInRelease(type, this.release), kinds);
  }

  /** Returns a reference to the definition of the body of a patch. */
  patch(): SchemaObject {
    const description = "A patch of an object, in the format of the content type.";
    return this.define(`${this.names.metaPrefix}Patch`, () => ({ description, type: "object" }));
  }

  /** Returns the name of an extension. */
  extension(name: string): `x-${string}` {
    return `${this.vocabulary.schemaExtensionPrefix}${name}` as `x-${string}`;
  }

  /** Returns group, version and kind of a kind. */
  kindOf(kind: Kind): GroupVersionKind {
    return { group: groupName(kind.group, this.vocabulary), kind: kind.name, version: kind.version };
  }

  private kindExtension(kinds: readonly GroupVersionKind[]): SchemaObject {
    return kinds.length === 0 ? {} : { [this.extension("group-version-kind")]: kinds };
  }

  /** The selectable fields of a custom kind. */
  private selectableExtension({ selectable }: Kind): SchemaObject {
    const fields = Object.keys(selectable).map((fieldPath) => ({ fieldPath }));
    return fields.length === 0 ? {} : { [this.extension("selectable-fields")]: fields };
  }

  private define(name: string, create: () => SchemaObject): SchemaObject {
    if (!Object.hasOwn(this.definitions, name) && !this.isDefined(name)) {
      this.definitions[name] = {};
      this.definitions[name] = create();
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
        ...(entries.length === 0 ? {} : { properties: sortByName(properties) }),
        ...this.kindExtension(kinds),
        ...(type.atomic ? { [this.extension("map-type")]: "atomic" } : {}),
      };
    });
  }

  private field({ type, facts }: Field): SchemaObject {
    const oneOf = this.hasEnums ? facts.oneOf : undefined;
    const values = oneOf?.map((resolve) => this.resolve(resolve));
    return this.with(this.type(type), {
      description: facts.doc,
      ...(values === undefined || type.shape !== "scalar" ? {} : { enum: values.toSorted() }),
      ...this.defaultOf(publishedDefault(type, facts)),
      ...this.mergeFacts(facts),
    });
  }

  private mergeFacts(facts: FieldFacts): SchemaObject {
    const extensions: SchemaObject = {};
    const { listType, listMapKeys, mapType, patchStrategy, patchMergeKey } = facts;
    if (listMapKeys.length > 0) extensions[this.extension("list-map-keys")] = listMapKeys;
    if (listType !== undefined) extensions[this.extension("list-type")] = listType;
    if (mapType !== undefined) extensions[this.extension("map-type")] = mapType;
    if (patchMergeKey !== undefined) extensions[this.extension("patch-merge-key")] = patchMergeKey;
    if (patchStrategy.length > 0) extensions[this.extension("patch-strategy")] = patchStrategy.join(",");
    return extensions;
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

  /** Defines a union without its forms, as Kubernetes does. */
  private union({ groupVersion, name, doc }: UnionType): SchemaObject {
    return this.define(this.names.prefixOf(groupVersion) + name, () => ({ description: doc }));
  }

  private scalar(name: ScalarName): SchemaObject {
    const named = namedScalars[name];
    if (named === undefined) return { ...plainScalars[name] };
    return this.define(this.names.machinery(named.name), () => named[this.dialect]);
  }

  /** Adds keywords to a schema. OpenAPI 3.0 allows none next to `$ref`, so a reference is wrapped in `allOf`. */
  private with(schema: SchemaObject, facts: SchemaObject): SchemaObject {
    if (schema.$ref === undefined || this.dialect === "v2") return { ...facts, ...schema };
    return Object.keys(facts).length === 0 ? schema : { ...facts, allOf: [schema] };
  }

  /** Returns a default for OpenAPI 3.0; none for 2.0, as in Kubernetes. */
  private defaultOf(value: unknown): SchemaObject {
    return value === undefined || this.dialect === "v2" ? {} : { default: value };
  }

  private resolve(resolve: VocabularyString): string {
    return typeof resolve === "string" ? resolve : resolve(this.vocabulary);
  }
}

/** Returns the published default of a field: the declared one, or the zero value of a field that is always written. */
function publishedDefault(type: Type, facts: FieldFacts): unknown {
  const { default: defaultValue, publishesDefault, emitEmpty, nullable } = facts;
  if (publishesDefault) return defaultValue;
  if (!emitEmpty || nullable) return undefined;
  if (type.shape === "struct") return {};
  if (type.shape !== "scalar") return undefined;
  return type.name === "time" || type.name === "microTime" ? {} : (zeroOf(type.name) ?? undefined);
}

/** A scalar with its own definition; `name` is relative to apimachinery. */
type NamedScalar = { readonly name: string } & Readonly<Record<Dialect, SchemaObject>>;

/** Scalars with an inline schema. */
const plainScalars: Readonly<Partial<Record<ScalarName, SchemaObject>>> = {
  string: { type: "string" },
  bool: { type: "boolean" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  double: { type: "number", format: "double" },
  bytes: { type: "string", format: "byte" },
  json: {},
};

/** Scalars with their own definition. */
const namedScalars: Readonly<Partial<Record<ScalarName, NamedScalar>>> = {
  time: both("apis.meta.v1.Time", {
    description: "A time in RFC 3339 format, in UTC, with seconds.",
    type: "string",
    format: "date-time",
  }),
  microTime: both("apis.meta.v1.MicroTime", {
    description: "A time in RFC 3339 format, in UTC, with microseconds.",
    type: "string",
    format: "date-time",
  }),
  duration: both("apis.meta.v1.Duration", {
    description: "A duration such as `1h30m`.",
    type: "string",
  }),
  fieldsV1: both("apis.meta.v1.FieldsV1", {
    description: "A set of field paths, as nested objects with prefixed keys.",
    type: "object",
  }),
  object: both("runtime.RawExtension", {
    description: "An object of any kind, with apiVersion and kind.",
    type: "object",
  }),
  quantity: mixed("api.resource.Quantity", "An exact number with a unit, such as `100m` or `2Gi`.", "number"),
  intOrString: mixed("util.intstr.IntOrString", "A 32-bit integer or a string.", "integer", "int-or-string"),
};

function both(name: string, schema: SchemaObject): NamedScalar {
  return { name, v2: schema, v3: schema };
}

/** Returns the schemas of a scalar that is a string or a number. OpenAPI 2.0 has no `oneOf`, so there its type is `string`. */
function mixed(name: string, description: string, other: "integer" | "number", format?: string): NamedScalar {
  const formatted = format === undefined ? {} : { format };
  return {
    name,
    v2: { description, type: "string", ...formatted },
    v3: { description, oneOf: [{ type: "string" }, { type: other }], ...formatted },
  };
}
