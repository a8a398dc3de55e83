import { fieldElement, keyText, valueElement } from "./field-set.ts";
import { deducedShape, type Shape } from "./shape.ts";

/** A value with its path element in the parent object or list. */
export interface Position {
  readonly element: string;
  readonly value: unknown;
  readonly shape: Shape;
}

/** A member of an object or an item of a list. */
export interface Part extends Position {
  /**
   * Whether the fields of a part that isn't empty include its own path (`.` in `fieldsV1`): true for list items and undeclared
   * members. A declared object or list is owned only through its fields.
   */
  readonly includesPath: boolean;
}

/** An invalid list: an item has no keys, or two items have the same keys or value. */
export class PartsFault extends Error {
  override name = "PartsFault";
  constructor(
    /** Path of the list, relative to the value that was read. */
    readonly elements: readonly string[],
    readonly problem: string,
  ) {
    super(problem);
  }
}

/**
 * Handling of list items without keys or with equal keys: `strict` throws, for applied configurations; `lenient` uses the first of
 * equal items and skips those without keys, for live objects.
 */
export type Strictness = "strict" | "lenient";

/** Whether null members are parts. */
export type NullHandling = "include" | "omit";

/** In an applied configuration null is a value; in a live object it counts as absent. */
export function nullHandlingOf(strictness: Strictness): NullHandling {
  return strictness === "strict" ? "include" : "omit";
}

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Returns the parts of a granular value; undefined for an atomic value, null, or a value of the wrong type.
 *
 * @throws {PartsFault} if strict, for items without keys and for duplicates.
 */
export function partsOf(
  value: unknown,
  shape: Shape,
  strictness: Strictness,
  nulls: NullHandling = "omit",
): readonly Part[] | undefined {
  if (value === null || value === undefined) return undefined;
  switch (shape.kind) {
    case "leaf":
      return undefined;
    case "deduced":
      return isObject(value) ? members(value, () => deducedShape, nulls, always) : undefined;
    case "struct":
      return isObject(value)
        ? members(value, shape.member, nulls, (name) => !shape.declares(name))
        : undefined;
    case "map":
      return isObject(value) ? members(value, () => shape.element, nulls, always) : undefined;
    case "set":
      return Array.isArray(value) ? setItems(value, strictness) : undefined;
    case "items":
      return Array.isArray(value) ? keyedItems(value, shape, strictness) : undefined;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const always = (): boolean => true;

function members(
  value: JsonObject,
  shapeOf: (name: string) => Shape | undefined,
  nulls: NullHandling,
  includesPath: (name: string) => boolean,
): Part[] {
  const parts: Part[] = [];
  for (const name of Object.keys(value)) {
    const shape = shapeOf(name);
    if (shape !== undefined && value[name] !== undefined && (value[name] !== null || nulls === "include")) {
      parts.push({
        element: fieldElement(name),
        value: value[name],
        shape,
        includesPath: includesPath(name),
      });
    }
  }
  return parts;
}

const leaf: Shape = { kind: "leaf" };

function setItems(items: readonly unknown[], strictness: Strictness): Part[] {
  const seen = new Set<string>();
  const parts: Part[] = [];
  for (const value of items) {
    const element = valueElement(value);
    if (!seen.has(element)) parts.push({ element, value, shape: leaf, includesPath: true });
    else if (strictness === "strict") throw new PartsFault([], `the value ${element.slice(2)} occurs twice`);
    seen.add(element);
  }
  return parts;
}

function keyedItems(
  items: readonly unknown[],
  shape: Shape & { kind: "items" },
  strictness: Strictness,
): Part[] {
  const seen = new Set<string>();
  const parts: Part[] = [];
  for (const value of items) {
    const element = elementOfItem(value, shape, strictness);
    if (element === undefined) {
      if (strictness === "lenient") continue;
      throw new PartsFault([], `an item has no value for one of its keys: ${shape.keys.join(", ")}`);
    }
    if (!seen.has(element)) parts.push({ element, value, shape: shape.element, includesPath: true });
    else if (strictness === "strict") throw new PartsFault([], `the item ${element.slice(2)} occurs twice`);
    seen.add(element);
  }
  return parts;
}

/** Whether two items have equal scalar keys, and therefore the same path element; false for keys that are objects. */
export function sameKeys(a: unknown, b: unknown, shape: Shape & { kind: "items" }): boolean {
  if (!isObject(a) || !isObject(b)) return false;
  for (const key of shape.keys) {
    const value = keyOf(a, key, shape, "lenient");
    if ((value === undefined && !shape.optional.has(key)) || typeof value === "object") return false;
    if (value !== keyOf(b, key, shape, "lenient")) return false;
  }
  return true;
}

function keyOf(
  item: JsonObject,
  key: string,
  { defaults, zeros }: Shape & { kind: "items" },
  strictness: Strictness,
): unknown {
  const value = Object.hasOwn(item, key) ? item[key] : undefined;
  return value ?? defaults.get(key) ?? (strictness === "lenient" ? zeros.get(key) : undefined);
}

/**
 * Returns the path element of an item; undefined if a key without default is missing. In a live object a missing key may be zero,
 * because zeros aren't stored; an applied configuration must contain it.
 */
export function elementOfItem(
  item: unknown,
  shape: Shape & { kind: "items" },
  strictness: Strictness,
): string | undefined {
  if (!isObject(item)) return undefined;
  let text = "";
  for (const key of shape.elementKeys) {
    const value = keyOf(item, key, shape, strictness);
    if (value === undefined && shape.optional.has(key)) continue;
    if (value === undefined) return undefined;
    text += keyText(text, key, value);
  }
  return text === "" ? undefined : `k:{${text}}`;
}
