import { deepClone, isObject, setMember, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import type { SchemaNode } from "./schema-node.ts";

/**
 * Fills in the defaults of a schema in an object, at every depth. A null where none is allowed is taken for absent: it gives
 * way to the default, or goes. Changes the object.
 */
export function fillMembers(node: SchemaNode, object: JsonObject): void {
  for (const [name, property] of node.properties) {
    if (property.default === undefined) continue;
    if (!Object.hasOwn(object, name) || isStrayNull(property, object[name]!)) {
      setMember(object, name, deepClone(property.default as JsonValue));
    }
  }
  for (const name of Object.keys(object)) {
    const below = node.properties.get(name) ?? node.additional;
    if (below === undefined) continue;
    const value = object[name]!;
    if (!isStrayNull(below, value)) fillValue(below, value);
    else if (below.default === undefined) delete object[name];
    else {
      const filled = deepClone(below.default as JsonValue);
      setMember(object, name, filled);
      fillValue(below, filled);
    }
  }
}

/** The default of a member that is absent, with the defaults in it; undefined where the schema has none for it. */
export function defaultMember(node: SchemaNode, name: string): JsonValue | undefined {
  const property = node.properties.get(name);
  if (property?.default === undefined) return undefined;
  const value = deepClone(property.default as JsonValue);
  fillValue(property, value);
  return value;
}

function fillValue(node: SchemaNode, value: JsonValue): void {
  if (Array.isArray(value)) {
    const { items } = node;
    if (items === undefined) return;
    for (const [index, item] of value.entries()) {
      if (items.default !== undefined && isStrayNull(items, item)) {
        value[index] = deepClone(items.default as JsonValue);
      }
      fillValue(items, value[index]!);
    }
  } else if (isObject(value)) fillMembers(node, value);
}

function isStrayNull({ nullable }: SchemaNode, value: JsonValue): boolean {
  return value === null && !nullable;
}
