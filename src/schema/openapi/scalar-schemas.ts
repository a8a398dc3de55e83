import type { ScalarName } from "../types.ts";
import type { Dialect, SchemaObject } from "./schema-object.ts";

/** A scalar with its own definition; `name` is relative to apimachinery. */
export type NamedScalar = { readonly name: string } & Readonly<Record<Dialect, SchemaObject>>;

/** Scalars with an inline schema. */
export const plainScalars: Readonly<Partial<Record<ScalarName, SchemaObject>>> = {
  string: { type: "string" },
  bool: { type: "boolean" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  double: { type: "number", format: "double" },
  bytes: { type: "string", format: "byte" },
  json: {},
};

/** Scalars with their own definition. */
export const namedScalars: Readonly<Partial<Record<ScalarName, NamedScalar>>> = {
  time: both("apis.meta.v1.Time", {
    description: "A time in RFC 3339 format, in UTC, with seconds.",
    type: "string",
    format: "date-time",
  }),
  microTime: both("apis.meta.v1.MicroTime", {
    description: "A time in RFC 3339 format, in UTC, with microseconds.",
    type: "string",
    format: "date-time",
  }),
  duration: both("apis.meta.v1.Duration", {
    description: "A duration such as `1h30m`.",
    type: "string",
  }),
  fieldsV1: both("apis.meta.v1.FieldsV1", {
    description: "A set of field paths, as nested objects with prefixed keys.",
    type: "object",
  }),
  object: both("runtime.RawExtension", {
    description: "An object of any kind, with apiVersion and kind.",
    type: "object",
  }),
  quantity: mixed("api.resource.Quantity", "An exact number with a unit, such as `100m` or `2Gi`.", "number"),
  intOrString: mixed("util.intstr.IntOrString", "A 32-bit integer or a string.", "integer", "int-or-string"),
};

function both(name: string, schema: SchemaObject): NamedScalar {
  return { name, v2: schema, v3: schema };
}

/** Returns the schemas of a scalar that is a string or a number. OpenAPI 2.0 has no `oneOf`, so there its type is `string`. */
function mixed(name: string, description: string, other: "integer" | "number", format?: string): NamedScalar {
  const formatted = format === undefined ? {} : { format };
  return {
    name,
    v2: { description, type: "string", ...formatted },
    v3: { description, oneOf: [{ type: "string" }, { type: other }], ...formatted },
  };
}
