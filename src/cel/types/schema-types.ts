import type { SchemaNode } from "../../schema/custom/schema-node.ts";
import type { ScalarName, StructType, Type } from "../../schema/types.ts";
import { escapedFieldName } from "./field-names.ts";
import {
  bool,
  bytes,
  double,
  duration,
  dyn,
  int,
  listOf,
  mapOf,
  objectType,
  string,
  timestamp,
  type CelType,
  type ObjectField,
} from "./types.ts";

/** CEL types of scalar types. */
const scalars: Readonly<Record<ScalarName, CelType>> = {
  string,
  bool,
  int32: int,
  int64: int,
  double,
  bytes,
  time: timestamp,
  microTime: timestamp,
  duration,
  // Always a string in stored objects.
  quantity: dyn,
  intOrString: dyn,
  json: dyn,
  object: dyn,
  fieldsV1: dyn,
};

/** CEL types of scalars that aren't converted: times and bytes are strings. */
const plainScalars: Readonly<Record<ScalarName, CelType>> = {
  ...scalars,
  bytes: string,
  time: string,
  microTime: string,
  duration: string,
};

/**
 * Converts declared types to CEL types.
 *
 * @example `schemaTypes.of(Pod.type)` is an object type with the fields `spec`, `metadata`, …
 */
export class SchemaTypes {
  /** One type per struct, because structs may be recursive. */
  private readonly structs = new WeakMap<StructType, CelType>();

  /** @param values `plain`: values are as in JSON; `converted`: times and bytes have their CEL types. */
  constructor(private readonly values: "plain" | "converted") {}

  of(type: Type): CelType {
    switch (type.shape) {
      case "scalar":
        return (this.values === "plain" ? plainScalars : scalars)[type.name];
      case "list":
        return listOf(this.of(type.element));
      case "map":
        return mapOf(string, this.of(type.value));
      case "struct":
        return this.struct(type);
      case "union":
        return dyn;
    }
  }

  private struct(type: StructType): CelType {
    if (type.open?.preserves === true) return dyn;
    let result = this.structs.get(type);
    if (result === undefined) {
      result = objectType(type.name, () => this.fieldsOf(type));
      this.structs.set(type, result);
    }
    return result;
  }

  private fieldsOf({ fields, open, name: typeName }: StructType): ReadonlyMap<string, ObjectField> {
    const result = open === undefined ? new Map<string, ObjectField>() : fieldsOfNode(open, typeName);
    for (const [jsonName, { type }] of Object.entries(fields)) {
      const name = escapedFieldName(jsonName);
      if (name !== undefined) result.set(name, { type: this.of(type), jsonName });
    }
    return result;
  }
}

/** Returns the fields of an object with a schema. */
function fieldsOfNode({ properties }: SchemaNode, name: string): Map<string, ObjectField> {
  const fields = new Map<string, ObjectField>();
  for (const [jsonName, node] of properties) {
    const escaped = escapedFieldName(jsonName);
    if (escaped !== undefined)
      fields.set(escaped, { type: typeOfNode(node, `${name}.${jsonName}`), jsonName });
  }
  return fields;
}

/** Returns the type of a node of a schema, as in JSON; dynamic where the schema doesn't say what a value is. */
function typeOfNode(node: SchemaNode, name: string): CelType {
  const { type, items, additional, properties, preserves, embedded, intOrString } = node;
  if (intOrString || preserves || embedded) return dyn;
  switch (type) {
    case "array":
      return listOf(items === undefined ? dyn : typeOfNode(items, `${name}.@idx`));
    case "object":
      if (additional !== undefined) return mapOf(string, typeOfNode(additional, `${name}.@elem`));
      return properties.size === 0 ? dyn : objectType(name, () => fieldsOfNode(node, name));
    case "string":
      return string;
    case "boolean":
      return bool;
    case "integer":
      return int;
    case "number":
      return double;
    default:
      return dyn;
  }
}
