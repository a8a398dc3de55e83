import { getMember, setMember, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import type { Dialect, SchemaObject } from "./schema-object.ts";

type Schema = Readonly<Record<string, unknown>>;

/**
 * The schema of a custom kind as the documents show it: as its definition has it in OpenAPI 3.0; in 2.0 without what that dialect
 * doesn't know, so that its clients don't take a part of a rule for the whole.
 *
 * @param prefix of the names of the product's marks.
 */
export function customSchema(schema: object, dialect: Dialect, prefix: string): SchemaObject {
  if (dialect === "v3") return schema as SchemaObject;
  return simplified(schema as Schema, {
    preserves: `${prefix}preserve-unknown-fields`,
    intOrString: `${prefix}int-or-string`,
  }) as SchemaObject;
}

/** The names of the product's marks that matter here. */
interface MarkNames {
  readonly preserves: string;
  readonly intOrString: string;
}

function simplified(schema: Schema, marks: MarkNames): Schema {
  // Clients would drop what the object has besides, or refuse a null.
  const isUntyped = schema[marks.preserves] === true || schema["nullable"] === true;
  const result: Record<string, unknown> = {};
  for (const name in schema) {
    const value = schema[name];
    switch (name) {
      // What the older dialect doesn't say.
      case "allOf":
      case "anyOf":
      case "oneOf":
      case "not":
      case "default":
      case "nullable":
      case "id":
      case "$schema":
        break;
      case "type":
        if (!isUntyped && schema[marks.intOrString] !== true) result["type"] = value;
        break;
      case "items":
        if (!isUntyped) result["items"] = below(value, marks);
        break;
      case "additionalProperties":
        result["additionalProperties"] = below(value, marks);
        break;
      case "properties":
        if (!isUntyped) result["properties"] = simplifiedEach(value as JsonObject, marks);
        break;
      case "required": {
        const required = requiredOf(schema, value as readonly string[]);
        if (required.length > 0) result["required"] = required;
        break;
      }
      default:
        result[name] = value;
    }
  }
  return result;
}

function below(schema: unknown, marks: MarkNames): unknown {
  return typeof schema === "object" && schema !== null ? simplified(schema as Schema, marks) : schema;
}

function simplifiedEach(properties: JsonObject, marks: MarkNames): JsonObject {
  const result: JsonObject = {};
  for (const name in properties) setMember(result, name, below(properties[name], marks) as JsonValue);
  return result;
}

/** The required members that clients may insist on: none that may be null. */
function requiredOf(
  { properties = {}, additionalProperties }: Schema,
  required: readonly string[],
): readonly string[] {
  const isNullable = (schema: unknown): boolean =>
    typeof schema === "object" && schema !== null && (schema as Schema)["nullable"] === true;
  if (isNullable(additionalProperties)) return [];
  return required.filter((name) => !isNullable(getMember(properties as JsonObject, name)));
}

/** Whether a schema lets fields stay that it doesn't name. */
export function preservesUnknown(schema: object, prefix: string): boolean {
  return (schema as Schema)[`${prefix}preserve-unknown-fields`] === true;
}
