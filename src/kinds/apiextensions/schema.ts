import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** A schema as the rules see it. The marks of the product stand in it too; {@link marks} reads them. */
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

/** What the product's own marks of a schema say. */
export interface Marks {
  readonly preserveUnknownFields: boolean | undefined;
  readonly embeddedResource: boolean;
  readonly intOrString: boolean;
  readonly listMapKeys: readonly string[];
  readonly listType: string | undefined;
  readonly mapType: string | undefined;
  readonly validations: readonly { readonly rule: string; readonly message?: string }[];
}

/** The product's marks of a schema. */
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

/** The one schema of a list's items; undefined where there is none, or a list of them. */
export function itemSchema({ items }: Schema): Schema | undefined {
  return items === undefined || Array.isArray(items) ? undefined : (items as Schema);
}

/** The schema of members without one of their own, where it is one. */
export function memberSchema({ additionalProperties: schema }: Schema): Schema | undefined {
  return typeof schema === "object" ? schema : undefined;
}
