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

/** A schema in JSON form, as definitions have it (`openAPIV3Schema`). */
export type StructuralSchema = Readonly<Record<string, unknown>>;

/** A declaration can't be written as a structural schema; the message names the field and says why. */
export class SchemaFault extends Error {
  override name = "SchemaFault";
}

/** A tree has no names to refer to, so that a struct in many places is written out in each; beyond this it is refused. */
const maxSchemas = 20_000;

/**
 * The structural schema of a kind's declared type (spec: conventions 4.8): a tree without references. A struct inside itself
 * is an object whose members are kept and not checked, as a tree can't say more. Rules that are functions aren't in it.
 *
 * @throws {SchemaFault}
 */
export function structuralSchema(type: StructType, vocabulary: Vocabulary): StructuralSchema {
  return new SchemaWriter(vocabulary).root(type);
}

/** Scalars whose values are texts or numbers of one JSON type. */
const typedScalars: Readonly<Partial<Record<ScalarName, StructuralSchema>>> = {
  string: { type: "string" },
  bool: { type: "boolean" },
  // A format bounds no number.
  int32: { type: "integer", format: "int32", minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
  int64: { type: "integer", format: "int64" },
  double: { type: "number", format: "double" },
  bytes: { type: "string", format: "byte" },
  time: { type: "string", format: "date-time" },
  microTime: { type: "string", format: "date-time" },
  // Not the format `duration`: it allows days and weeks, which the scalar doesn't.
  duration: { type: "string", pattern: String.raw`^[-+]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$` },
};

/** A number with a unit, or a plain one. */
const quantityPattern = String.raw`^[-+]?(\d+(\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][-+]?\d+)?$`;

class SchemaWriter {
  private written = 0;
  /** The structs around the present place. */
  private readonly around = new Set<StructType>();

  constructor(private readonly vocabulary: Vocabulary) {}

  root(type: StructType): StructuralSchema {
    const { properties, ...rest } = this.struct(type, "");
    const own = properties as Readonly<Record<string, StructuralSchema>>;
    const named = (name: string): StructuralSchema => ({
      type: "string",
      description: own[name]?.["description"],
    });
    // What is in the metadata of objects is the server's to say, and it sets the other two.
    const common = { apiVersion: named("apiVersion"), kind: named("kind"), metadata: { type: "object" } };
    return { ...rest, properties: { ...own, ...common } };
  }

  private struct(type: StructType, path: string): StructuralSchema {
    if (this.around.has(type)) return { description: type.doc, ...this.anything("object") };
    this.around.add(type);
    const fields = Object.entries(type.fields);
    const properties: [string, StructuralSchema][] = [];
    for (const [name, field] of fields) {
      const isMetadata = path === "" && name === "metadata";
      properties.push([name, isMetadata ? {} : this.field(field, path === "" ? name : `${path}.${name}`)]);
    }
    this.around.delete(type);
    const required = fields.filter(([, field]) => isRequired(field)).map(([name]) => name);
    return {
      description: type.doc,
      type: "object",
      ...(required.length > 0 && { required: required.toSorted() }),
      ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
      ...(type.atomic && { [this.mark("map-type")]: "atomic" }),
    };
  }

  private field(field: Field, path: string): StructuralSchema {
    const { type, facts } = field;
    const schema = this.type(type, path);
    const values = facts.unchecked ? undefined : facts.oneOf?.map((word) => this.word(word)).toSorted();
    const enumerated = values !== undefined && { enum: values };
    const given = defaultOf(field);
    return {
      ...schema,
      description: facts.doc,
      ...(type.shape === "list"
        ? enumerated && { items: { ...(schema["items"] as StructuralSchema), ...enumerated } }
        : enumerated),
      // An empty text counts as absent, so it isn't given.
      ...(facts.mustBeGiven && isText(type) && { minLength: 1 }),
      ...(given !== undefined && { default: given }),
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
      ...(listType !== undefined && { [this.mark("list-type")]: listType }),
      ...(listMapKeys.length > 0 && { [this.mark("list-map-keys")]: listMapKeys }),
      ...(mapType !== undefined && { [this.mark("map-type")]: mapType }),
    };
  }

  /** Definitions want each key of a list to be in every item: sent by the client, or by default. */
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
    if (++this.written > maxSchemas)
      throw new SchemaFault(`${path}: there are more than ${maxSchemas} schemas in one tree`);
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
        return { [this.mark("int-or-string")]: true, pattern: quantityPattern };
      case "intOrString":
        return { [this.mark("int-or-string")]: true };
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
    return { ...(type && { type }), [this.mark("preserve-unknown-fields")]: true };
  }

  private mark(name: string): string {
    return this.vocabulary.schemaExtensionPrefix + name;
  }

  private word(word: VocabularyString): string {
    return typeof word === "string" ? word : word(this.vocabulary);
  }
}

/** What is filled in for a field that isn't sent: the line's default, or the zero value of a field that is always written. */
function defaultOf({ type, facts }: Field): unknown {
  if (facts.default !== undefined) return facts.default;
  if (type.shape === "struct") return isWrittenEmpty(facts) && mayBeEmpty(type) ? {} : undefined;
  if (type.shape !== "scalar" || !isWrittenEmpty(facts)) return undefined;
  if (facts.mustBeGiven || facts.oneOf !== undefined) return undefined;
  return zeroOf(type.name) ?? undefined;
}

/** Whether the field must be sent. A struct that is always written must be sent where an empty one is wrong. */
function isRequired({ type, facts }: Field): boolean {
  if (type.shape === "struct" && isWrittenEmpty(facts)) return !mayBeEmpty(type);
  return facts.mustBeGiven;
}

function isWrittenEmpty({ emitEmpty, nullable }: FieldFacts): boolean {
  return emitEmpty && !nullable;
}

/** Whether an object of the type may have no members. */
function mayBeEmpty(type: StructType, around: ReadonlySet<StructType> = new Set()): boolean {
  if (around.has(type)) return false;
  const inside = new Set([...around, type]);
  return Object.values(type.fields).every(({ type: inner, facts }) =>
    inner.shape === "struct" && isWrittenEmpty(facts) ? mayBeEmpty(inner, inside) : !facts.mustBeGiven,
  );
}

function isText(type: Type): boolean {
  return type.shape === "scalar" && typedScalars[type.name]?.["type"] === "string";
}
