import type { StructType, Type } from "../../src/schema/types.ts";

const scalars: Readonly<Record<string, string>> = {
  time: "Time",
  microTime: "MicroTime",
  duration: "Duration",
  quantity: "Quantity",
  intOrString: "IntOrString",
  fieldsV1: "FieldsV1",
  json: "JSON",
  object: "RawExtension",
};

/** Returns a type in the format of the tables, without the version of a struct's group. */
export function expressionOf(type: Type): string {
  switch (type.shape) {
    case "scalar":
      return scalars[type.name] ?? type.name;
    case "struct":
    case "union":
      return type.name;
    case "list":
      return `list<${expressionOf(type.element)}>`;
    case "map":
      return `map<string,${expressionOf(type.value)}>`;
  }
}

/** Returns every struct that a type contains, including itself. */
export function structsOf(type: Type, found = new Set<StructType>()): Set<StructType> {
  if (type.shape === "list") return structsOf(type.element, found);
  if (type.shape === "map") return structsOf(type.value, found);
  if (type.shape === "union") {
    for (const form of Object.values(type.forms)) structsOf(form.type, found);
    return found;
  }
  if (type.shape === "scalar" || found.has(type)) return found;
  found.add(type);
  for (const field of Object.values(type.fields)) structsOf(field.type, found);
  return found;
}
