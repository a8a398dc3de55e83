/** OpenAPI 2.0 (one document) or OpenAPI 3.0 (one document per group version). */
export type Dialect = "v2" | "v3";

/** A schema with the keywords that declarations use. */
export interface SchemaObject {
  $ref?: string;
  description?: string;
  type?: "array" | "boolean" | "integer" | "number" | "object" | "string";
  format?: string;
  default?: unknown;
  enum?: readonly string[];
  required?: readonly string[];
  properties?: Record<string, SchemaObject>;
  items?: SchemaObject;
  additionalProperties?: SchemaObject;
  allOf?: readonly SchemaObject[];
  oneOf?: readonly SchemaObject[];
  [extension: `x-${string}`]: unknown;
}

/** Value of the extension `group-version-kind`. */
export interface GroupVersionKind {
  readonly group: string;
  readonly kind: string;
  readonly version: string;
}

/** Returns the reference to a definition. */
export function referenceTo(name: string, dialect: Dialect): string {
  return dialect === "v2" ? `#/definitions/${name}` : `#/components/schemas/${name}`;
}

/** Returns a record with its members sorted by name. */
export function sortByName<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
