import type { KindContext } from "./context.ts";
import type { StructType, Type } from "./types.ts";
import { formOf } from "./unions.ts";

/**
 * Fills in the defaults that stand on the fields' own lines and in the structs' rules, at every depth: a struct's before
 * those of the structs inside. Changes `value`.
 */
export function fillFieldDefaults(
  type: StructType,
  value: Record<string, unknown>,
  context: KindContext,
): void {
  if (!hasDefaults(type)) return;
  for (const name in type.fields) {
    const { facts } = type.fields[name]!;
    if (facts.default === undefined || (value[name] !== undefined && value[name] !== null)) continue;
    if (facts.gate !== undefined && !context.enabled(facts.gate)) continue;
    value[name] = typeof facts.default === "object" ? structuredClone(facts.default) : facts.default;
  }
  type.rules.fill?.(value, context);
  for (const name in type.fields) {
    const present = value[name];
    if (present !== undefined && present !== null) fillBelow(type.fields[name]!.type, present, context);
  }
}

function fillBelow(type: Type, value: unknown, context: KindContext): void {
  if (!hasDefaults(type)) return;
  if (type.shape === "struct") fillFieldDefaults(type, value as Record<string, unknown>, context);
  else if (type.shape === "union") {
    const form = formOf(type, value);
    if (form !== undefined) fillBelow(form.type, value, context);
  } else if (type.shape === "list")
    for (const item of value as unknown[]) fillBelow(type.element, item, context);
  else if (type.shape === "map") {
    for (const item of Object.values(value as Record<string, unknown>)) fillBelow(type.value, item, context);
  }
}

const known = new WeakMap<Type, boolean>();

/** Whether anything at or below a type has a default; searched once a type. */
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
  if (type.shape === "union") return Object.values(type.forms).some((form) => search(form.type, visited));
  if (type.rules.fill !== undefined) return true;
  return Object.values(type.fields).some(
    (field) => field.facts.default !== undefined || search(field.type, visited),
  );
}
