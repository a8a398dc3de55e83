import type { ScalarName, StructType, Type } from "../schema/types.ts";
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
    let result = this.structs.get(type);
    if (result === undefined) {
      result = objectType(type.name, () => this.fieldsOf(type));
      this.structs.set(type, result);
    }
    return result;
  }

  private fieldsOf({ fields }: StructType): ReadonlyMap<string, ObjectField> {
    const result = new Map<string, ObjectField>();
    for (const [jsonName, { type }] of Object.entries(fields)) {
      const name = escapedFieldName(jsonName);
      if (name !== undefined) result.set(name, { type: this.of(type), jsonName });
    }
    return result;
  }
}
