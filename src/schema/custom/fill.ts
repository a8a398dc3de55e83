import { deepClone, isObject, setMember, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { StatusError } from "../../base/status-error.ts";
import type { SchemaNode } from "./schema-node.ts";

/** More than this is in no object that is stored, in characters of JSON. */
const maxFilled = 3 * 1024 * 1024;
const sizes = new WeakMap<SchemaNode, number>();

/** Copies the defaults that one object gets, as long as they are no more than an object may be. */
class Defaults {
  private filled = 0;

  /** @throws {StatusError} RequestEntityTooLarge */
  copyOf(node: SchemaNode): JsonValue {
    let size = sizes.get(node);
    if (size === undefined) sizes.set(node, (size = JSON.stringify(node.default).length));
    this.filled += size;
    if (this.filled > maxFilled) {
      throw new StatusError(
        "RequestEntityTooLarge",
        "the object is too large with the defaults of its schema",
      );
    }
    return deepClone(node.default as JsonValue);
  }
}

/**
 * Fills in the defaults of a schema in an object, at every depth. A null where none is allowed is taken for absent: it gives
 * way to the default, or goes. Changes the object.
 *
 * @throws {StatusError} RequestEntityTooLarge where the defaults alone are more than an object may have.
 */
export function fillMembers(node: SchemaNode, object: JsonObject): void {
  fillIn(node, object, new Defaults());
}

function fillIn(node: SchemaNode, object: JsonObject, defaults: Defaults): void {
  for (const [name, property] of node.properties) {
    if (property.default === undefined) continue;
    if (!Object.hasOwn(object, name) || isStrayNull(property, object[name]!)) {
      setMember(object, name, defaults.copyOf(property));
    }
  }
  for (const name of Object.keys(object)) {
    const below = node.properties.get(name) ?? node.additional;
    if (below === undefined) continue;
    const value = object[name]!;
    if (!isStrayNull(below, value)) fillValue(below, value, defaults);
    else if (below.default === undefined) delete object[name];
    else {
      const filled = defaults.copyOf(below);
      setMember(object, name, filled);
      fillValue(below, filled, defaults);
    }
  }
}

/** The default of a member that is absent, with the defaults in it; undefined where the schema has none for it. */
export function defaultMember(node: SchemaNode, name: string): JsonValue | undefined {
  const property = node.properties.get(name);
  if (property?.default === undefined) return undefined;
  const defaults = new Defaults();
  const value = defaults.copyOf(property);
  fillValue(property, value, defaults);
  return value;
}

function fillValue(node: SchemaNode, value: JsonValue, defaults: Defaults): void {
  if (Array.isArray(value)) {
    const { items } = node;
    if (items === undefined) return;
    for (const [index, item] of value.entries()) {
      if (items.default !== undefined && isStrayNull(items, item)) {
        value[index] = defaults.copyOf(items);
      }
      fillValue(items, value[index]!, defaults);
    }
  } else if (isObject(value)) fillIn(node, value, defaults);
}

function isStrayNull({ nullable }: SchemaNode, value: JsonValue): boolean {
  return value === null && !nullable;
}
