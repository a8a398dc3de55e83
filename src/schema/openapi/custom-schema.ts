import type { Dialect, SchemaObject } from "./schema-object.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Members of a schema that hold one schema, or some by name. */
const single = ["items", "additionalProperties"];
const named = ["properties"];

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
  const preserves = schema[`${prefix}preserve-unknown-fields`] === true;
  const below = (one: unknown): unknown =>
    typeof one === "object" && one !== null ? simplified(one as Schema, prefix) : one;
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    if (unsaid.has(name)) continue;
    // Clients would drop what the object has besides, or refuse a null.
    if ((preserves || schema["nullable"] === true) && [...single, ...named, "required"].includes(name))
      continue;
    if (name === "type" && (schema["nullable"] === true || schema[`${prefix}int-or-string`] === true))
      continue;
    if (single.includes(name)) result[name] = below(value);
    else if (named.includes(name)) {
      const entries = Object.entries(value as Schema).map(([key, one]) => [key, below(one)]);
      result[name] = Object.fromEntries(entries) as unknown;
    } else result[name] = value;
  }
  return result;
}
