import type { Dialect, SchemaObject } from "./schema-object.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Members of a schema that hold one schema, or some by name. */
const single: ReadonlySet<string> = new Set(["items", "additionalProperties"]);
const named: ReadonlySet<string> = new Set(["properties"]);

/** What the older dialect doesn't say. */
const unsaid = new Set(["allOf", "anyOf", "oneOf", "not", "default", "nullable", "id", "$schema"]);

/**
 * The schema of a custom kind as the documents show it: as its definition has it in OpenAPI 3.0; in 2.0 without what that dialect
 * doesn't know, so that its clients don't take a part of a rule for the whole.
 *
 * @param prefix of the names of the product's marks.
 */
export function customSchema(schema: object, dialect: Dialect, prefix: string): SchemaObject {
  return (dialect === "v3" ? schema : simplified(schema as Schema, prefix)) as SchemaObject;
}

function simplified(schema: Schema, prefix: string): Schema {
  // Clients would drop what the object has besides, or refuse a null.
  const untyped = preservesUnknown(schema, prefix) || schema["nullable"] === true;
  const below = (one: unknown): unknown =>
    typeof one === "object" && one !== null ? simplified(one as Schema, prefix) : one;
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    if (unsaid.has(name)) continue;
    if (untyped && (name === "type" || name === "items" || name === "properties")) continue;
    if (name === "type" && schema[`${prefix}int-or-string`] === true) continue;
    if (name === "required") {
      const required = requiredOf(schema, value as readonly string[]);
      if (required.length > 0) result[name] = required;
      continue;
    }
    if (single.has(name)) result[name] = below(value);
    else if (named.has(name)) {
      const entries = Object.entries(value as Schema).map(([key, one]) => [key, below(one)]);
      result[name] = Object.fromEntries(entries) as unknown;
    } else result[name] = value;
  }
  return result;
}

/** The required members that clients may insist on: none that may be null. */
function requiredOf(
  { properties = {}, additionalProperties }: Schema,
  required: readonly string[],
): string[] {
  const isNullable = (schema: unknown): boolean =>
    typeof schema === "object" && schema !== null && (schema as Schema)["nullable"] === true;
  if (isNullable(additionalProperties)) return [];
  return required.filter((name) => !isNullable((properties as Schema)[name]));
}

/** Whether a schema lets fields stay that it doesn't name. */
export function preservesUnknown(schema: object, prefix: string): boolean {
  return (schema as Schema)[`${prefix}preserve-unknown-fields`] === true;
}
