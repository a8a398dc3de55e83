import { getMember, setMember, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import type { Dialect, SchemaObject } from "./schema-object.ts";

type Schema = Readonly<Record<string, unknown>>;

/**
 * Returns the published schema of a custom kind: unchanged in OpenAPI 3.0, in 2.0 without keywords that this version doesn't
 * support.
 *
 * @param prefix prefix of the extensions, such as `x-kubernetes-`.
 */
export function customSchema(schema: object, dialect: Dialect, prefix: string): SchemaObject {
  if (dialect === "v3") return schema as SchemaObject;
  return simplify(schema as Schema, {
    preserves: `${prefix}preserve-unknown-fields`,
    intOrString: `${prefix}int-or-string`,
  }) as SchemaObject;
}

/** Names of extensions. */
interface ExtensionNames {
  readonly preserves: string;
  readonly intOrString: string;
}

function simplify(schema: Schema, extensions: ExtensionNames): Schema {
  // With a type, kubectl would drop unknown fields or reject null.
  const isUntyped = schema[extensions.preserves] === true || schema["nullable"] === true;
  const result: Record<string, unknown> = {};
  for (const name in schema) {
    const value = schema[name];
    switch (name) {
      // Not supported in OpenAPI 2.0.
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
        if (!isUntyped && schema[extensions.intOrString] !== true) result["type"] = value;
        break;
      case "items":
        if (!isUntyped) result["items"] = below(value, extensions);
        break;
      case "additionalProperties":
        result["additionalProperties"] = below(value, extensions);
        break;
      case "properties":
        if (!isUntyped) result["properties"] = simplifyProperties(value as JsonObject, extensions);
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

function below(schema: unknown, extensions: ExtensionNames): unknown {
  return typeof schema === "object" && schema !== null ? simplify(schema as Schema, extensions) : schema;
}

function simplifyProperties(properties: JsonObject, extensions: ExtensionNames): JsonObject {
  const result: JsonObject = {};
  for (const name in properties) setMember(result, name, below(properties[name], extensions) as JsonValue);
  return result;
}

/** Returns the required members that are not nullable; clients reject null for the others. */
function requiredOf(
  { properties = {}, additionalProperties }: Schema,
  required: readonly string[],
): readonly string[] {
  const isNullable = (schema: unknown): boolean =>
    typeof schema === "object" && schema !== null && (schema as Schema)["nullable"] === true;
  if (isNullable(additionalProperties)) return [];
  return required.filter((name) => !isNullable(getMember(properties as JsonObject, name)));
}

/** Whether a schema preserves unknown fields. */
export function preservesUnknown(schema: object, prefix: string): boolean {
  return (schema as Schema)[`${prefix}preserve-unknown-fields`] === true;
}
