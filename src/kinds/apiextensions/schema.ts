import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** A schema, as the checks read it. It also contains the extensions, which {@link marks} reads. */
export interface Schema {
  readonly id?: string;
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string;
  readonly title?: string;
  readonly pattern?: string;
  readonly default?: unknown;
  readonly uniqueItems?: boolean;
  readonly required?: readonly string[];
  readonly items?: Schema | readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly not?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly dependencies?: Readonly<Record<string, unknown>>;
  readonly additionalItems?: Schema | boolean;
  readonly definitions?: Readonly<Record<string, Schema>>;
  readonly externalDocs?: object;
  readonly nullable?: boolean;
}

/** The values of the schema extensions. */
export interface Marks {
  readonly preserveUnknownFields: boolean | undefined;
  readonly embeddedResource: boolean;
  readonly intOrString: boolean;
  readonly listMapKeys: readonly string[];
  readonly listType: string | undefined;
  readonly mapType: string | undefined;
  readonly validations: readonly { readonly rule: string; readonly message?: string }[];
}

/** Returns the schema extensions. */
export function marks(schema: Schema, { schemaExtensionPrefix: prefix }: Vocabulary): Marks {
  const read = (name: string) => (schema as Readonly<Record<string, unknown>>)[prefix + name];
  return {
    preserveUnknownFields: read("preserve-unknown-fields") as boolean | undefined,
    embeddedResource: read("embedded-resource") === true,
    intOrString: read("int-or-string") === true,
    listMapKeys: (read("list-map-keys") ?? []) as readonly string[],
    listType: read("list-type") as string | undefined,
    mapType: read("map-type") as string | undefined,
    validations: (read("validations") ?? []) as Marks["validations"],
  };
}

/** Returns the schema of a list's items; undefined if there is none, or several. */
export function itemSchema({ items }: Schema): Schema | undefined {
  return items === undefined || Array.isArray(items) ? undefined : (items as Schema);
}

/** Returns the schema of additional properties; undefined if it is missing or a boolean. */
export function memberSchema({ additionalProperties: schema }: Schema): Schema | undefined {
  return typeof schema === "object" ? schema : undefined;
}
