import { deepClone, type JsonObject } from "../base/json/value.ts";
import { StatusError } from "../base/status-error.ts";
import { fillMembers, maxFilled } from "./custom/fill.ts";
import type { KindContext } from "./context.ts";
import type { Field, StructType, Type } from "./types.ts";
import { formOf } from "./unions.ts";

/**
 * Fills in the defaults of the fields and of the structs' rules, at every depth: a struct's before
 * those of the structs inside. Changes `value`.
 *
 * @throws {StatusError} RequestEntityTooLarge if the defaults of a schema make the value too large.
 */
export function fillFieldDefaults(
  type: StructType,
  value: Record<string, unknown>,
  context: KindContext,
): void {
  if (!hasDefaults(type)) return;
  const { own, below } = planOf(type);
  for (const [name, { facts }] of own) {
    if (value[name] !== undefined && value[name] !== null) continue;
    if (facts.gate !== undefined && !context.enabled(facts.gate)) continue;
    value[name] = typeof facts.default === "object" ? deepClone(facts.default) : facts.default;
  }
  type.rules.fill?.(value, context);
  for (const [name, field] of below) {
    const present = value[name];
    if (present !== undefined && present !== null) fillBelow(field.type, present, context);
  }
  if (type.open !== undefined && !fillMembers(type.open, value as JsonObject)) {
    throw new StatusError(
      "RequestEntityTooLarge",
      `the defaults of the object are larger than ${maxFilled} bytes`,
    );
  }
}

/** Fills in the defaults below a value of a type that has some. */
function fillBelow(type: Type, value: unknown, context: KindContext): void {
  switch (type.shape) {
    case "struct":
      return fillFieldDefaults(type, value as Record<string, unknown>, context);
    case "union": {
      const form = formOf(type, value);
      if (form !== undefined && hasDefaults(form.type)) fillBelow(form.type, value, context);
      return;
    }
    case "list":
      for (const item of value as unknown[]) fillBelow(type.element, item, context);
      return;
    case "map":
      for (const item of Object.values(value as Record<string, unknown>))
        fillBelow(type.value, item, context);
      return;
    case "scalar":
  }
}

/** The fields of a struct that matter here. */
interface Plan {
  /** Those with a default on their own line. */
  readonly own: readonly (readonly [name: string, field: Field])[];
  /** Those with defaults at or below their type. */
  readonly below: readonly (readonly [name: string, field: Field])[];
}

const plans = new WeakMap<StructType, Plan>();

function planOf(type: StructType): Plan {
  let found = plans.get(type);
  if (found === undefined) {
    const fields = Object.entries(type.fields);
    found = {
      own: fields.filter(([, { facts }]) => facts.default !== undefined),
      below: fields.filter(([, field]) => hasDefaults(field.type)),
    };
    plans.set(type, found);
  }
  return found;
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
  if (type.rules.fill !== undefined || type.open !== undefined) return true;
  return Object.values(type.fields).some(
    (field) => field.facts.default !== undefined || search(field.type, visited),
  );
}
