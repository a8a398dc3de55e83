import type { StructType, Type } from "../types.ts";

const known = new WeakMap<StructType, boolean>();

/**
 * Whether objects of the type have a binary form: each field at every level has a number. `kind` and `apiVersion` of the
 * object itself stand in the envelope and need none; those of an object inside of it, such as the claims of a StatefulSet, are
 * left out of the binary form. All built-in kinds have one.
 */
export function hasBinaryForm(type: StructType): boolean {
  let found = known.get(type);
  if (found === undefined) {
    found = type.open === undefined && areNumbered(type, new Set([type]));
    known.set(type, found);
  }
  return found;
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
