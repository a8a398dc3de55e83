import { defaultMaxDepth } from "../../base/json/decode.ts";
import { setMember, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { ConstructedObject, JoinedList, ValueList, ValueMap } from "./collections.ts";
import { durationText, timestampText } from "./times.ts";
import { CelList, CelMap, Duration, Fault, Timestamp, Uint, type Value } from "./values.ts";

/** The value of an expression has no JSON form, or a too large one. */
export class JsonFault extends Error {
  override name = "JsonFault";
}

/** Approximate size of the largest JSON value, in characters; a small expression can share parts any number of times. */
const maxCharacters = 3 * 1024 * 1024;
/** Deeper objects can't be decoded again. */
const maxDepth = defaultMaxDepth;

/**
 * Returns the JSON form of a value.
 *
 * @throws {JsonFault} for a value without one, and for one that is too large or too deep.
 */
export function jsonOfValue(value: Value): JsonValue {
  return new Conversion().convert(value, 0);
}

class Conversion {
  private characters = 0;

  convert(value: Value, depth: number): JsonValue {
    this.count(2);
    switch (typeof value) {
      case "string":
        this.count(value.length);
        return value;
      case "bigint":
        return Number.isSafeInteger(Number(value)) ? Number(value) : value;
      case "number":
        if (!Number.isFinite(value)) throw new JsonFault(`${value} has no JSON form`);
        return value;
      case "boolean":
        return value;
      default:
        return value === null ? null : this.convertObject(value, depth);
    }
  }

  private convertObject(
    value: Exclude<Value, null | string | bigint | number | boolean>,
    depth: number,
  ): JsonValue {
    const isContainer = value instanceof CelList || value instanceof CelMap;
    if (isContainer && depth >= maxDepth) throw new JsonFault("the value is nested too deeply");
    if (value instanceof CelList) {
      const items: JsonValue[] = [];
      for (let at = 0; at < value.size; at++) items.push(this.convert(value.get(at), depth + 1));
      return items;
    }
    if (value instanceof CelMap) return this.convertMap(value, depth);
    if (value instanceof Uint) return this.convert(value.value, depth);
    if (value instanceof Uint8Array) return this.convert(Buffer.from(value).toString("base64"), depth);
    if (value instanceof Timestamp) return timestampText(value);
    if (value instanceof Duration) return durationText(value);
    throw new JsonFault(value instanceof Fault ? value.message : "the value has no JSON form");
  }

  private convertMap(map: CelMap, depth: number): JsonObject {
    const object: JsonObject = {};
    for (const key of map.keys()) {
      if (typeof key !== "string") throw new JsonFault("map keys must be strings");
      this.count(key.length + 4);
      setMember(object, key, this.convert(map.get(key)!, depth + 1));
    }
    return object;
  }

  private count(characters: number): void {
    this.characters += characters;
    if (this.characters > maxCharacters) throw new JsonFault("the value is too large");
  }
}

/**
 * Checks that the types of constructed objects are those of their fields: the object in the field `spec` of an `Object` must be an
 * `Object.spec`. Lists and maps in between don't count. The value must have a JSON form, which limits its size.
 *
 * @returns the first error.
 */
export function typeNameFault(value: Value, path: string, depth = 0): string | undefined {
  if (depth > maxDepth) return "the value is nested too deeply";
  if (value instanceof ConstructedObject) {
    const { name } = value.type;
    if (name !== path) {
      return `unexpected type name ${JSON.stringify(name)}, expected ${JSON.stringify(path)}, which matches field name path from root Object type`;
    }
    for (const [field, part] of value.fields) {
      const fault = typeNameFault(part, `${path}.${field}`, depth + 1);
      if (fault !== undefined) return fault;
    }
  }
  if (value instanceof ValueList || value instanceof JoinedList) {
    for (let at = 0; at < value.size; at++) {
      const fault = typeNameFault(value.get(at), path, depth + 1);
      if (fault !== undefined) return fault;
    }
  }
  if (!(value instanceof ValueMap)) return undefined;
  for (const key of value.keys()) {
    const fault = typeNameFault(value.get(key)!, path, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
