import { deepClone, isObject, setMember, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import type { SchemaNode } from "./schema-node.ts";

/**
 * How much is filled in one object at most, in characters of JSON. No larger object is stored, and a schema may have a default of a
 * megabyte for each item of a list.
 */
export const maxFilled = 3 * 1024 * 1024;

/** What may still be filled in; negative: it was too much. */
interface Room {
  left: number;
}

/**
 * Fills in the defaults of a schema in an object, at every depth. A null where none is allowed is taken for absent: it gives
 * way to the default, or goes. Changes the object.
 *
 * @returns false where it stopped because of {@link maxFilled}.
 */
export function fillMembers(node: SchemaNode, object: JsonObject): boolean {
  const room = { left: maxFilled };
  fillObject(node, object, room);
  return room.left >= 0;
}

function fillObject(node: SchemaNode, object: JsonObject, room: Room): void {
  for (const [name, property] of node.properties) {
    if (property.default === undefined) continue;
    if (!Object.hasOwn(object, name) || isStrayNull(property, object[name]!)) {
      room.left -= name.length + property.defaultLength;
      if (room.left < 0) return;
      setMember(object, name, deepClone(property.default as JsonValue));
    }
  }
  for (const name of Object.keys(object)) {
    const below = node.properties.get(name) ?? node.additional;
    if (below === undefined) continue;
    const value = object[name]!;
    if (!isStrayNull(below, value)) fillValue(below, value, room);
    else if (below.default === undefined) delete object[name];
    else {
      const filled = defaultOf(below, room);
      setMember(object, name, filled);
      fillValue(below, filled, room);
    }
    if (room.left < 0) return;
  }
}

/** The default of a member that is absent, with the defaults in it; undefined where the schema has none for it. */
export function defaultMember(node: SchemaNode, name: string): JsonValue | undefined {
  const property = node.properties.get(name);
  if (property?.default === undefined) return undefined;
  const room = { left: maxFilled };
  const value = defaultOf(property, room);
  fillValue(property, value, room);
  return value;
}

function fillValue(node: SchemaNode, value: JsonValue, room: Room): void {
  if (Array.isArray(value)) {
    const { items } = node;
    if (items === undefined) return;
    for (const [index, item] of value.entries()) {
      if (items.default !== undefined && isStrayNull(items, item)) value[index] = defaultOf(items, room);
      fillValue(items, value[index]!, room);
      if (room.left < 0) return;
    }
  } else if (isObject(value)) fillObject(node, value, room);
}

/** A copy of the default of a schema that has one; null where there is no room for it. */
function defaultOf(node: SchemaNode, room: Room): JsonValue {
  room.left -= node.defaultLength;
  return room.left < 0 ? null : deepClone(node.default as JsonValue);
}

function isStrayNull({ nullable }: SchemaNode, value: JsonValue): boolean {
  return value === null && !nullable;
}
