import type { StructType, Type } from "../types.ts";

const cache = new WeakMap<StructType, boolean>();

/**
 * Whether objects of the type can be encoded in protobuf: all fields at every level have numbers. `kind` and `apiVersion` need
 * none: they are in the envelope, and omitted for nested objects such as the claim templates of a StatefulSet. All built-in
 * kinds can be encoded.
 */
export function hasProtobufEncoding(type: StructType): boolean {
  let result = cache.get(type);
  if (result === undefined) {
    result = type.open === undefined && areNumbered(type, new Set([type]));
    cache.set(type, result);
  }
  return result;
}

function isNumbered(type: Type, number: number | undefined, seen: Set<StructType>): boolean {
  if (number === undefined) return false;
  switch (type.shape) {
    case "scalar":
      return true;
    case "list":
      return isNumbered(type.element, number, seen);
    case "map":
      return isNumbered(type.value, number, seen);
    case "union":
      return Object.values(type.forms).every((form) => isNumbered(form.type, form.facts.number, seen));
    case "struct":
      if (seen.has(type)) return true;
      seen.add(type);
      return areNumbered(type, seen);
  }
}

function areNumbered({ fields }: StructType, seen: Set<StructType>): boolean {
  return Object.entries(fields).every(
    ([name, { type, facts }]) => isTypeMeta(name, facts.number) || isNumbered(type, facts.number, seen),
  );
}

function isTypeMeta(name: string, number: number | undefined): boolean {
  return number === undefined && (name === "kind" || name === "apiVersion");
}
