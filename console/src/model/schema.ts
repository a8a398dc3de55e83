import { isRecord, memberOf } from "./paths.ts";

/** A schema of OpenAPI 3.0, as parsed JSON. */
export type Schema = Readonly<Record<string, unknown>>;

/** The schema of a kind, with those that it refers to by name. */
export interface KindSchema {
  readonly schema: Schema;
  readonly schemas: Schema;
}

/** How a form edits a field. */
export type FieldType =
  | {
      readonly kind:
        "text" | "integer" | "number" | "integer-or-text" | "quantity" | "boolean" | "map" | "yaml";
    }
  | { readonly kind: "choice"; readonly values: readonly string[] }
  | { readonly kind: "list"; readonly item: "text" | "integer" | "number" }
  | { readonly kind: "section"; readonly schema: Schema };

/** A field of an object. */
export interface FormField {
  readonly name: string;
  readonly description: string;
  readonly isRequired: boolean;
  /** Empty if it has no default. */
  readonly defaultText: string;
  readonly type: FieldType;
}

/** References that are followed one after the other. */
const maxReferences = 10;
const maxChoices = 100;
const referencePrefix = "#/components/schemas/";
/** Fields of the metadata that users edit; the name only of a new object. */
const editedMetadata = ["labels", "annotations", "finalizers"];

interface KindName {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Returns the schema of a kind in the document of its group version; undefined if it has none. */
export function kindSchema(document: unknown, { group, version, kind }: KindName): KindSchema | undefined {
  const components = isRecord(document) ? document["components"] : undefined;
  const schemas = isRecord(components) && isRecord(components["schemas"]) ? components["schemas"] : {};
  for (const schema of Object.values(schemas)) {
    if (!isRecord(schema)) continue;
    const names = extension(schema, "group-version-kind");
    const isNamed =
      Array.isArray(names) &&
      names.some(
        (one) =>
          isRecord(one) && one["group"] === group && one["version"] === version && one["kind"] === kind,
      );
    if (isNamed) return { schema, schemas };
  }
  return undefined;
}

/**
 * Returns the fields of an object that a form has at its top: without those that identify the object or belong to the server.
 *
 * @param isNew whether the object is created, so that it needs a name.
 */
export function topFields({ schema, schemas }: KindSchema, isNew = false): FormField[] {
  const metadata = [...(isNew ? ["name", "generateName"] : []), ...editedMetadata];
  return (
    fieldsOf(schema, schemas)
      .filter(({ name }) => !["apiVersion", "kind", "status"].includes(name))
      // The name of a new object is the first field.
      .map((field) =>
        field.name === "metadata"
          ? { ...field, isRequired: isNew, type: membersOf(field.type, metadata, isNew ? ["name"] : []) }
          : field,
      )
  );
}

/** Returns the type of a section with some of its fields only. */
function membersOf(type: FieldType, names: readonly string[], required: readonly string[]): FieldType {
  if (type.kind !== "section") return type;
  const { properties } = type.schema;
  const members = isRecord(properties) ? properties : {};
  const edited = names.flatMap((name) => {
    const member = memberOf(members, name);
    return member === undefined ? [] : [[name, member] as const];
  });
  return { kind: "section", schema: { properties: Object.fromEntries(edited), required } };
}

/** Returns the fields of the schema of an object. The cost is linear in their number: schemas below them are not read. */
export function fieldsOf(schema: Schema, schemas: Schema): FormField[] {
  const { properties, required } = resolved(schema, schemas);
  const names = new Set<unknown>(Array.isArray(required) ? required : []);
  return Object.entries(isRecord(properties) ? properties : {}).map(([name, value]) => {
    const field = resolved(isRecord(value) ? value : {}, schemas);
    const { description, default: standard } = field;
    return {
      name,
      description: typeof description === "string" ? description : "",
      isRequired: names.has(name),
      defaultText: isRecord(standard) || standard === undefined ? "" : textOf(standard),
      type: typeOf(field, schemas),
    };
  });
}

/** Follows references; a description and a default beside a reference have precedence. */
function resolved(schema: Schema, schemas: Schema): Schema {
  let current = schema;
  for (let count = 0; count < maxReferences; count++) {
    const { allOf, ...others } = current;
    const single: unknown = Array.isArray(allOf) && allOf.length === 1 ? allOf[0] : undefined;
    const { $ref: reference, ...rest } = isRecord(single) ? { ...single, ...others } : current;
    if (typeof reference !== "string") return rest;
    const target = memberOf(schemas, reference.slice(referencePrefix.length));
    current = isRecord(target) ? { ...target, ...rest } : rest;
  }
  return {};
}

function typeOf(schema: Schema, schemas: Schema): FieldType {
  const { type, enum: values, format, oneOf, items, properties, additionalProperties } = schema;
  if (Array.isArray(values)) return choiceOf(values);
  if (format === "int-or-string" || extension(schema, "int-or-string") === true)
    return { kind: "integer-or-text" };
  if (Array.isArray(oneOf)) return isTextOrNumber(oneOf) ? { kind: "quantity" } : { kind: "yaml" };
  switch (type) {
    case "string":
      return { kind: "text" };
    case "boolean":
    case "integer":
    case "number":
      return { kind: type };
    case "array": {
      const { kind } = isRecord(items) ? typeOf(resolved(items, schemas), schemas) : { kind: "yaml" };
      if (kind === "text" || kind === "choice") return { kind: "list", item: "text" };
      return kind === "integer" || kind === "number" ? { kind: "list", item: kind } : { kind: "yaml" };
    }
    case "object": {
      if (isRecord(properties) && Object.keys(properties).length > 0) return { kind: "section", schema };
      if (!isRecord(additionalProperties)) return { kind: "yaml" };
      const { type: valueType, oneOf: valueChoices } = resolved(additionalProperties, schemas);
      const isText = valueType === "string" || (Array.isArray(valueChoices) && isTextOrNumber(valueChoices));
      return { kind: isText ? "map" : "yaml" };
    }
    default:
      return { kind: "yaml" };
  }
}

function choiceOf(values: readonly unknown[]): FieldType {
  const texts = values.filter((one) => typeof one === "string");
  return texts.length === values.length && texts.length <= maxChoices
    ? { kind: "choice", values: texts }
    : { kind: "yaml" };
}

function isTextOrNumber(oneOf: readonly unknown[]): boolean {
  return oneOf.every((one) => isRecord(one) && (one["type"] === "string" || one["type"] === "number"));
}

/** Returns an extension by its name without prefix, which is that of the server's vocabulary. */
function extension(schema: Schema, name: string): unknown {
  const key = Object.keys(schema).find((one) => one.startsWith("x-") && one.endsWith(`-${name}`));
  return key === undefined ? undefined : schema[key];
}

/** Returns the text of a scalar value; empty for null and undefined. */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return value === null || value === undefined ? "" : JSON.stringify(value);
}
