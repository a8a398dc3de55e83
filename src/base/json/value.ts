/**
 * A JSON value. Integers that a double can't represent exactly are `bigint`, all other numbers are `number`; `encodeJson` writes
 * both.
 */
export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | JsonObject;

/** A JSON object. All names are own properties, also `__proto__`: write with `setMember`, read with `getMember`. */
export interface JsonObject {
  [name: string]: JsonValue;
}

/**
 * Views an object as the JSON that it consists of. The interfaces of objects have no index signature, so the type checker can't see it.
 *
 * @param object has only members that are JSON values, or undefined, which isn't encoded.
 */
export function jsonOf(object: object): JsonObject {
  return object as JsonObject;
}

/** Whether a value is a JSON object (not an array, not null). */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Sets an own property. A plain assignment to `__proto__` would change the prototype instead. */
export function setMember(object: JsonObject, name: string, value: JsonValue): void {
  if (name === "__proto__") {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[name] = value;
  }
}

/** Returns the own property of that name; never an inherited one (`constructor`, `toString`). */
export function getMember(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/**
 * Whether two values are equal as JSON: numbers by numeric value, objects independent of the order of members. A member that is
 * undefined counts as absent. Recursive, so only for values whose depth was limited by the decoder.
 */
export function deepEqual(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return sameNumber(a, b);
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => deepEqual(item, b[index]!));
  }
  if (Array.isArray(b)) return false;
  let more = 0;
  for (const name in a) {
    const own = a[name];
    if (own === undefined) continue;
    more++;
    // Inherited properties are functions, which never equal JSON, except `__proto__`.
    const other = name === "__proto__" ? getMember(b, name) : b[name];
    if (other === undefined || !deepEqual(own, other)) return false;
  }
  for (const name in b) if (b[name] !== undefined) more--;
  return more === 0;
}

function sameNumber(a: JsonValue, b: JsonValue): boolean {
  if (typeof a === "bigint" && typeof b === "number") return Number.isInteger(b) && BigInt(b) === a;
  if (typeof a === "number" && typeof b === "bigint") return Number.isInteger(a) && BigInt(a) === b;
  return false;
}

/** Returns a deep copy of a JSON value. Recursive, as `deepEqual`. */
export function deepClone<T>(value: T): T {
  return cloneOf(value as JsonValue) as T;
}

function cloneOf(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items: JsonValue[] = [];
    for (const item of value) items.push(cloneOf(item));
    return items;
  }
  // The spread keeps V8's hidden class and copies an own `__proto__` as an own property.
  const copy: JsonObject = { ...value };
  for (const name in copy) {
    const member = copy[name]!;
    if (typeof member === "object" && member !== null) setMember(copy, name, cloneOf(member));
  }
  return copy;
}
