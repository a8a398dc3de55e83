import { zeroOf } from "../scalars.ts";
import type {
  Field,
  FieldFacts,
  ListType,
  ScalarName,
  StructType,
  Type,
  VocabularyString,
} from "../types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** A schema in JSON form, as in `openAPIV3Schema` of a definition. */
export type StructuralSchema = Readonly<Record<string, unknown>>;

/** A declaration can't be converted to a structural schema; the message names the field and the reason. */
export class SchemaFault extends Error {
  override name = "SchemaFault";
}

/** Maximum number of schemas in a tree. Structural schemas have no references, so every use of a struct is a copy. */
const maxSchemas = 20_000;

/**
 * Returns the structural schema of a declared type (spec: conventions 4.8): a tree without references. A recursive struct becomes an
 * object with `preserve-unknown-fields`. Rules that are functions are not included.
 *
 * @throws {SchemaFault}
 */
export function structuralSchema(type: StructType, vocabulary: Vocabulary): StructuralSchema {
  return new SchemaWriter(vocabulary).root(type);
}

/** Scalars with a single JSON type. */
const typedScalars: Readonly<Partial<Record<ScalarName, StructuralSchema>>> = {
  string: { type: "string" },
  bool: { type: "boolean" },
  // The format doesn't limit the range.
  int32: { type: "integer", format: "int32", minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
  int64: { type: "integer", format: "int64" },
  double: { type: "number", format: "double" },
  bytes: { type: "string", format: "byte" },
  time: { type: "string", format: "date-time" },
  microTime: { type: "string", format: "date-time" },
  // Not the format `duration`, which also allows days and weeks.
  duration: { type: "string", pattern: String.raw`^[-+]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$` },
};

/** Pattern of a quantity. */
const quantityPattern = String.raw`^[-+]?(\d+(\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][-+]?\d+)?$`;

class SchemaWriter {
  private schemaCount = 0;
  /** The enclosing structs, to detect recursion. */
  private readonly enclosing = new Set<StructType>();

  constructor(private readonly vocabulary: Vocabulary) {}

  root(type: StructType): StructuralSchema {
    const { properties: declared, ...rest } = this.struct(type, "");
    const properties = declared as Readonly<Record<string, StructuralSchema>>;
    const stringField = (name: string): StructuralSchema => ({
      type: "string",
      description: properties[name]?.["description"],
    });
    // The server defines metadata, and sets apiVersion and kind.
    const common = {
      apiVersion: stringField("apiVersion"),
      kind: stringField("kind"),
      metadata: { type: "object" },
    };
    return { ...rest, properties: { ...properties, ...common } };
  }

  private struct(type: StructType, path: string): StructuralSchema {
    if (this.enclosing.has(type)) return { description: type.doc, ...this.anything("object") };
    this.enclosing.add(type);
    const fields = Object.entries(type.fields);
    const properties: [string, StructuralSchema][] = [];
    for (const [name, field] of fields) {
      const isMetadata = path === "" && name === "metadata";
      properties.push([name, isMetadata ? {} : this.field(field, path === "" ? name : `${path}.${name}`)]);
    }
    this.enclosing.delete(type);
    const required = fields.filter(([, field]) => isRequired(field)).map(([name]) => name);
    return {
      description: type.doc,
      type: "object",
      ...(required.length > 0 && { required: required.toSorted() }),
      ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
      ...(type.atomic && { [this.extension("map-type")]: "atomic" }),
    };
  }

  private field(field: Field, path: string): StructuralSchema {
    const { type, facts } = field;
    const schema = this.type(type, path);
    const values = facts.unchecked
      ? undefined
      : facts.oneOf?.map((resolve) => this.resolve(resolve)).toSorted();
    const enumerated = values !== undefined && { enum: values };
    const defaultValue = defaultOf(field);
    return {
      ...schema,
      description: facts.doc,
      ...(type.shape === "list"
        ? enumerated && { items: { ...(schema["items"] as StructuralSchema), ...enumerated } }
        : enumerated),
      // An empty string counts as absent.
      ...(facts.mustBeGiven && isString(type) && { minLength: 1 }),
      ...(defaultValue !== undefined && { default: defaultValue }),
      ...this.mergeFacts(type, facts, path),
    };
  }

  private mergeFacts(
    type: Type,
    { listType, listMapKeys, mapType }: FieldFacts,
    path: string,
  ): StructuralSchema {
    if (listType === "map") this.requireKeys(type as ListType, listMapKeys, path);
    return {
      ...(listType !== undefined && { [this.extension("list-type")]: listType }),
      ...(listMapKeys.length > 0 && { [this.extension("list-map-keys")]: listMapKeys }),
      ...(mapType !== undefined && { [this.extension("map-type")]: mapType }),
    };
  }

  /** Checks that each key of a list map is required or has a default, as definitions require. */
  private requireKeys({ element }: ListType, keys: readonly string[], path: string): void {
    const fields = element.shape === "struct" ? element.fields : {};
    for (const key of keys) {
      const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
      if (field !== undefined && (isRequired(field) || defaultOf(field) !== undefined)) continue;
      throw new SchemaFault(
        `${path}: the key ${JSON.stringify(key)} of the list is neither required nor has it a default`,
      );
    }
  }

  private type(type: Type, path: string): StructuralSchema {
    if (++this.schemaCount > maxSchemas)
      throw new SchemaFault(`${path}: the schema has more than ${maxSchemas} nodes`);
    switch (type.shape) {
      case "scalar":
        return this.scalar(type.name);
      case "struct":
        return this.struct(type, path);
      case "union":
        return this.anything();
      case "list":
        return { type: "array", items: this.type(type.element, `${path}[]`) };
      case "map":
        return { type: "object", additionalProperties: this.type(type.value, `${path}[*]`) };
    }
  }

  private scalar(name: ScalarName): StructuralSchema {
    switch (name) {
      case "quantity":
        return { [this.extension("int-or-string")]: true, pattern: quantityPattern };
      case "intOrString":
        return { [this.extension("int-or-string")]: true };
      case "json":
        return this.anything();
      case "object":
      case "fieldsV1":
        return this.anything("object");
      default:
        return { ...typedScalars[name] };
    }
  }

  private anything(type?: "object"): StructuralSchema {
    return { ...(type && { type }), [this.extension("preserve-unknown-fields")]: true };
  }

  private extension(name: string): string {
    return this.vocabulary.schemaExtensionPrefix + name;
  }

  private resolve(resolve: VocabularyString): string {
    return typeof resolve === "string" ? resolve : resolve(this.vocabulary);
  }
}

/** Returns the default of a field: the declared one, or the zero value of a field that is always written. */
function defaultOf({ type, facts }: Field): unknown {
  if (facts.default !== undefined) return facts.default;
  if (type.shape === "struct") return isWrittenEmpty(facts) && mayBeEmpty(type) ? {} : undefined;
  if (type.shape !== "scalar" || !isWrittenEmpty(facts)) return undefined;
  if (facts.mustBeGiven || facts.oneOf !== undefined) return undefined;
  return zeroOf(type.name) ?? undefined;
}

/** Whether the field is required in requests. A struct that is always written is required if `{}` is invalid. */
function isRequired({ type, facts }: Field): boolean {
  if (type.shape === "struct" && isWrittenEmpty(facts)) return !mayBeEmpty(type);
  return facts.mustBeGiven;
}

function isWrittenEmpty({ emitEmpty, nullable }: FieldFacts): boolean {
  return emitEmpty && !nullable;
}

/** Whether `{}` is a valid value of the type. */
function mayBeEmpty(type: StructType, enclosing: ReadonlySet<StructType> = new Set()): boolean {
  if (enclosing.has(type)) return false;
  const withType = new Set([...enclosing, type]);
  return Object.values(type.fields).every(({ type: inner, facts }) =>
    inner.shape === "struct" && isWrittenEmpty(facts) ? mayBeEmpty(inner, withType) : !facts.mustBeGiven,
  );
}

function isString(type: Type): boolean {
  return type.shape === "scalar" && typedScalars[type.name]?.["type"] === "string";
}
