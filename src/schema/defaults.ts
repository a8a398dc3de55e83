import { deepClone, type JsonObject } from "../base/json/value.ts";
import { StatusError } from "../base/status-error.ts";
import { fillMembers, maxDefaultsLength } from "./custom/fill.ts";
import type { KindContext } from "./context.ts";
import type { Field, StructType, Type } from "./types.ts";
import { formOf } from "./unions.ts";

/**
 * Sets the defaults of fields and struct rules at every depth: those of a struct before those of the structs inside. Modifies
 * `value`.
 *
 * @throws {StatusError} RequestEntityTooLarge if the defaults of a schema make the value too large.
 */
export function fillFieldDefaults(
  type: StructType,
  value: Record<string, unknown>,
  context: KindContext,
): void {
  if (!hasDefaults(type)) return;
  const { own, nested: below } = planOf(type);
  for (const [name, { facts }] of own) {
    if (value[name] !== undefined && value[name] !== null) continue;
    if (facts.gate !== undefined && !context.enabled(facts.gate)) continue;
    value[name] = typeof facts.default === "object" ? deepClone(facts.default) : facts.default;
  }
  type.rules.fill?.(value, context);
  for (const [name, field] of below) {
    const present = value[name];
    if (present !== undefined && present !== null) fillParts(field.type, present, context);
  }
  if (type.open !== undefined && !fillMembers(type.open, value as JsonObject)) {
    throw new StatusError(
      "RequestEntityTooLarge",
      `the defaults of the object are larger than ${maxDefaultsLength} bytes`,
    );
  }
}

/** Sets the defaults in the parts of a value. */
function fillParts(type: Type, value: unknown, context: KindContext): void {
  switch (type.shape) {
    case "struct":
      return fillFieldDefaults(type, value as Record<string, unknown>, context);
    case "union": {
      const form = formOf(type, value);
      if (form !== undefined && hasDefaults(form.type)) fillParts(form.type, value, context);
      return;
    }
    case "list":
      for (const item of value as unknown[]) fillParts(type.element, item, context);
      return;
    case "map":
      for (const item of Object.values(value as Record<string, unknown>))
        fillParts(type.value, item, context);
      return;
    case "scalar":
  }
}

/** The fields of a struct that have defaults. */
interface Plan {
  /** Fields with a default of their own. */
  readonly own: readonly (readonly [name: string, field: Field])[];
  /** Fields whose type has defaults. */
  readonly nested: readonly (readonly [name: string, field: Field])[];
}

const plans = new WeakMap<StructType, Plan>();

function planOf(type: StructType): Plan {
  let plan = plans.get(type);
  if (plan === undefined) {
    const fields = Object.entries(type.fields);
    plan = {
      own: fields.filter(([, { facts }]) => facts.default !== undefined),
      nested: fields.filter(([, field]) => hasDefaults(field.type)),
    };
    plans.set(type, plan);
  }
  return plan;
}

const hasDefaultsByType = new WeakMap<Type, boolean>();

/** Whether a type, or a type inside, has defaults. Cached per type. */
function hasDefaults(type: Type): boolean {
  if (type.shape === "scalar") return false;
  let result = hasDefaultsByType.get(type);
  if (result === undefined) {
    result = search(type, new Set());
    hasDefaultsByType.set(type, result);
  }
  return result;
}

function search(type: Type, visited: Set<Type>): boolean {
  if (type.shape === "scalar" || visited.has(type)) return false;
  visited.add(type);
  if (type.shape === "list") return search(type.element, visited);
  if (type.shape === "map") return search(type.value, visited);
  if (type.shape === "union") return Object.values(type.forms).some((form) => search(form.type, visited));
  if (type.rules.fill !== undefined || type.open !== undefined) return true;
  return Object.values(type.fields).some(
    (field) => field.facts.default !== undefined || search(field.type, visited),
  );
}
