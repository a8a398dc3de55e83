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

/** What the values of the scalar types are to expressions. */
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
  // Text in every object that is stored; expressions that are given something else see what it is.
  quantity: dyn,
  intOrString: dyn,
  json: dyn,
  object: dyn,
  fieldsV1: dyn,
};

/** What the scalar types are where values aren't converted by their declared types: times and bytes are text. */
const plainScalars: Readonly<Record<ScalarName, CelType>> = {
  ...scalars,
  bytes: string,
  time: string,
  microTime: string,
  duration: string,
};

/**
 * The types that declared types are to expressions.
 *
 * @example `schemaTypes.of(Pod.type)` is an object type with the fields `spec`, `metadata`, …
 */
export class SchemaTypes {
  /** Structs may contain themselves, so each has one type. */
  private readonly structs = new WeakMap<StructType, CelType>();

  /** @param values `plain` where objects are shown to expressions as they stand in JSON, `converted` where by their types. */
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
    let found = this.structs.get(type);
    if (found === undefined) {
      found = objectType(type.name, () => this.fieldsOf(type));
      this.structs.set(type, found);
    }
    return found;
  }

  private fieldsOf({ fields }: StructType): ReadonlyMap<string, ObjectField> {
    const found = new Map<string, ObjectField>();
    for (const [jsonName, { type }] of Object.entries(fields)) {
      const name = escapedFieldName(jsonName);
      if (name !== undefined) found.set(name, { type: this.of(type), jsonName });
    }
    return found;
  }
}
