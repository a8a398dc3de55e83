/** The two forms in which the API describes itself: OpenAPI 2.0, whole; OpenAPI 3.0, one document a group version. */
export type Dialect = "v2" | "v3";

/** A schema, as far as declarations need it. */
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

/** A kind's full name, as the extension of definitions and operations writes it. */
export interface GroupVersionKind {
  readonly group: string;
  readonly kind: string;
  readonly version: string;
}

/** Where a dialect keeps its definitions. */
export function referenceTo(name: string, dialect: Dialect): string {
  return dialect === "v2" ? `#/definitions/${name}` : `#/components/schemas/${name}`;
}

/** The members of a record, sorted by name. */
export function sorted<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
