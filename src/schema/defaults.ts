import type { StructType, Type } from "./types.ts";

/** Fills in the defaults that stand on the fields' own lines, at every depth. Changes `value`. */
export function fillFieldDefaults(type: StructType, value: Record<string, unknown>): void {
  if (!hasDefaults(type)) return;
  for (const name in type.fields) {
    const field = type.fields[name]!;
    if (value[name] === undefined && field.facts.default !== undefined) {
      value[name] = structuredClone(field.facts.default);
    }
    const present = value[name];
    if (present !== undefined && present !== null) fillBelow(field.type, present);
  }
}

function fillBelow(type: Type, value: unknown): void {
  if (!hasDefaults(type)) return;
  if (type.shape === "struct") fillFieldDefaults(type, value as Record<string, unknown>);
  else if (type.shape === "list") for (const item of value as unknown[]) fillBelow(type.element, item);
  else if (type.shape === "map") {
    for (const item of Object.values(value as Record<string, unknown>)) fillBelow(type.value, item);
  }
}

const known = new WeakMap<Type, boolean>();

/** Whether any field at or below a type has a default; searched once a type. */
function hasDefaults(type: Type): boolean {
  if (type.shape === "scalar") return false;
  let found = known.get(type);
  if (found === undefined) {
    found = search(type, new Set());
    known.set(type, found);
  }
  return found;
}

function search(type: Type, visited: Set<Type>): boolean {
  if (type.shape === "scalar" || visited.has(type)) return false;
  visited.add(type);
  if (type.shape === "list") return search(type.element, visited);
  if (type.shape === "map") return search(type.value, visited);
  return Object.values(type.fields).some(
    (field) => field.facts.default !== undefined || search(field.type, visited),
  );
}
