import { deepClone, isObject, setMember, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import type { SchemaNode } from "./schema-node.ts";

/**
 * Maximum size of the defaults in one object, in characters of JSON. A schema may have a default of 1 MB for each item of a list;
 * larger objects can't be stored.
 */
export const maxDefaultsLength = 3 * 1024 * 1024;

/** The remaining size of defaults; negative after the limit was exceeded. */
interface DefaultsBudget {
  remaining: number;
}

/**
 * Sets the defaults of a schema at every depth. Null in a field that isn't nullable is replaced by the default, or removed if there is
 * none. Modifies the object.
 *
 * @returns false if it stopped because of {@link maxDefaultsLength}.
 */
export function fillMembers(node: SchemaNode, object: JsonObject): boolean {
  const budget = { remaining: maxDefaultsLength };
  fillObject(node, object, budget);
  return budget.remaining >= 0;
}

function fillObject(node: SchemaNode, object: JsonObject, budget: DefaultsBudget): void {
  for (const [name, property] of node.properties) {
    if (property.default === undefined) continue;
    if (!Object.hasOwn(object, name) || isDisallowedNull(property, object[name]!)) {
      budget.remaining -= name.length + property.defaultLength;
      if (budget.remaining < 0) return;
      setMember(object, name, deepClone(property.default as JsonValue));
    }
  }
  for (const name of Object.keys(object)) {
    const below = node.properties.get(name) ?? node.additional;
    if (below === undefined) continue;
    const value = object[name]!;
    if (!isDisallowedNull(below, value)) fillValue(below, value, budget);
    else if (below.default === undefined) delete object[name];
    else {
      const filled = defaultOf(below, budget);
      setMember(object, name, filled);
      fillValue(below, filled, budget);
    }
    if (budget.remaining < 0) return;
  }
}

/** Returns the default of an absent member, including nested defaults; undefined if the schema has none. */
export function defaultMember(node: SchemaNode, name: string): JsonValue | undefined {
  const property = node.properties.get(name);
  if (property?.default === undefined) return undefined;
  const budget = { remaining: maxDefaultsLength };
  const value = defaultOf(property, budget);
  fillValue(property, value, budget);
  return value;
}

function fillValue(node: SchemaNode, value: JsonValue, budget: DefaultsBudget): void {
  if (Array.isArray(value)) {
    const { items } = node;
    if (items === undefined) return;
    for (const [index, item] of value.entries()) {
      if (items.default !== undefined && isDisallowedNull(items, item))
        value[index] = defaultOf(items, budget);
      fillValue(items, value[index]!, budget);
      if (budget.remaining < 0) return;
    }
  } else if (isObject(value)) fillObject(node, value, budget);
}

/** Returns a copy of the default of a schema; null if the budget is exceeded. */
function defaultOf(node: SchemaNode, budget: DefaultsBudget): JsonValue {
  budget.remaining -= node.defaultLength;
  return budget.remaining < 0 ? null : deepClone(node.default as JsonValue);
}

function isDisallowedNull({ nullable }: SchemaNode, value: JsonValue): boolean {
  return value === null && !nullable;
}
