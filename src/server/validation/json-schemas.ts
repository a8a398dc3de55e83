import { isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { listAt, objectAt, textOf, type ManifestObject } from "./documents.ts";
import { Session, type SessionOptions } from "./session.ts";
import type { Release } from "../../base/releases.ts";

/** The JSON schema of a kind. */
export interface KindSchema {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Name of its definition in {@link JsonSchemas.definitions}. */
  readonly definition: string;
}

/** JSON schemas of the kinds of a release. */
export interface JsonSchemas {
  readonly kinds: readonly KindSchema[];
  /** Schemas by name; they refer to each other as `#/definitions/NAME`. */
  readonly definitions: JsonObject;
}

const componentPath = "#/components/schemas/";

/**
 * Returns the JSON schemas of all kinds of a release, from its OpenAPI documents.
 *
 * @param context definitions of custom kinds.
 */
export async function jsonSchemas(
  release: Release,
  options: SessionOptions,
  context: readonly ManifestObject[],
): Promise<JsonSchemas> {
  const session = await Session.open(release, options, context);
  try {
    const key = `${options.vocabulary.schemaExtensionPrefix}group-version-kind`;
    const kinds: KindSchema[] = [];
    const definitions: JsonObject = {};
    const index = objectAt(await session.document("/openapi/v3"), "paths") ?? {};
    for (const path of Object.keys(index)
      .filter((one) => /^apis?\//.test(one))
      .toSorted()) {
      const document = await session.document(textOf(objectAt(index, path)?.["serverRelativeURL"]));
      for (const [name, schema] of Object.entries(objectAt(document, "components", "schemas") ?? {})) {
        if (definitions[name] !== undefined) continue;
        definitions[name] = strict(schema, options.vocabulary.schemaExtensionPrefix);
        const [own, ...others] = listAt(schema, key);
        // Options of requests belong to many groups.
        if (own === undefined || others.length > 0 || !isObject(own)) continue;
        const group = textOf(own["group"]);
        kinds.push({ group, version: textOf(own["version"]), kind: textOf(own["kind"]), definition: name });
      }
    }
    return { kinds, definitions };
  } finally {
    await session.close();
  }
}

/** Returns a schema that accepts no unknown members, with references to `definitions`. */
function strict(schema: JsonValue, prefix: string): JsonValue {
  if (Array.isArray(schema)) return schema.map((one) => strict(one, prefix));
  if (!isObject(schema)) return schema;
  const copy: JsonObject = {};
  for (const [name, value] of Object.entries(schema)) {
    if (name === "$ref" && typeof value === "string")
      copy[name] = value.replace(componentPath, "#/definitions/");
    else copy[name] = strict(value, prefix);
  }
  const isOpen =
    schema[`${prefix}preserve-unknown-fields`] === true || schema["additionalProperties"] !== undefined;
  if (isObject(schema["properties"]) && schema["type"] === "object" && !isOpen)
    copy["additionalProperties"] = false;
  return copy;
}
