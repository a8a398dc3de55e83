import { fieldElement, keyElement, valueElement } from "./field-set.ts";
import { deducedShape, type Shape } from "./shape.ts";

/** A value at a place of an object or list. */
export interface Position {
  readonly element: string;
  readonly value: unknown;
  readonly shape: Shape;
}

/** A part of an object or list. */
export interface Part extends Position {
  /**
   * Whether it is owned itself, beside what is in it: an item, or a member that nobody declared. A declared member is there
   * because of what is in it.
   */
  readonly isOwn: boolean;
}

/** A list that can't be taken apart by its keys or values. */
export class PartsFault extends Error {
  override name = "PartsFault";
  constructor(
    /** Path of the list below the processed value. */
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

/** Whether members that are null are parts. */
export type Nulls = "kept" | "left out";

/** An applied null is a value; a null in a live object counts as absent. */
export function nullsOf(strictness: Strictness): Nulls {
  return strictness === "strict" ? "kept" : "left out";
}

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * The parts of a value that are owned one by one; undefined for what is owned as one. Members without a value aren't there.
 *
 * @throws {PartsFault} strictly, for items without keys and equal items.
 */
export function partsOf(
  value: unknown,
  shape: Shape,
  strictness: Strictness,
  nulls: Nulls = "left out",
): readonly Part[] | undefined {
  if (value === null || value === undefined) return undefined;
  switch (shape.kind) {
    case "leaf":
      return undefined;
    case "deduced":
      return isObject(value) ? members(value, () => deducedShape, nulls, isAlwaysOwn) : undefined;
    case "struct":
      return isObject(value)
        ? members(value, shape.member, nulls, (name) => !shape.declares(name))
        : undefined;
    case "map":
      return isObject(value) ? members(value, () => shape.element, nulls, isAlwaysOwn) : undefined;
    case "set":
      return Array.isArray(value) ? setItems(value, strictness) : undefined;
    case "items":
      return Array.isArray(value) ? keyedItems(value, shape, strictness) : undefined;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const isAlwaysOwn = (): boolean => true;

function members(
  value: JsonObject,
  shapeOf: (name: string) => Shape | undefined,
  nulls: Nulls,
  isOwn: (name: string) => boolean,
): Part[] {
  const parts: Part[] = [];
  for (const name of Object.keys(value)) {
    const shape = shapeOf(name);
    if (shape !== undefined && value[name] !== undefined && (value[name] !== null || nulls === "kept")) {
      parts.push({ element: fieldElement(name), value: value[name], shape, isOwn: isOwn(name) });
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
    if (!seen.has(element)) parts.push({ element, value, shape: leaf, isOwn: true });
    else if (strictness === "strict") throw new PartsFault([], `the value ${element.slice(2)} stands twice`);
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
    if (!seen.has(element)) parts.push({ element, value, shape: shape.element, isOwn: true });
    else if (strictness === "strict") throw new PartsFault([], `the item ${element.slice(2)} stands twice`);
    seen.add(element);
  }
  return parts;
}

/** Whether two items surely have the same element, without making it. */
export function sameKeys(a: unknown, b: unknown, shape: Shape & { kind: "items" }): boolean {
  if (!isObject(a) || !isObject(b)) return false;
  for (const key of shape.keys) {
    const value = keyOf(a, key, shape, "lenient");
    if (value === undefined || typeof value === "object") return false;
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
 * The element of an item; undefined when a key is missing that has no default. What stands may lack a key because it is
 * zero, as zeros aren't stored; who applies must say it.
 */
export function elementOfItem(
  item: unknown,
  shape: Shape & { kind: "items" },
  strictness: Strictness,
): string | undefined {
  if (!isObject(item)) return undefined;
  const keyValues = new Map<string, unknown>();
  for (const key of shape.keys) {
    const value = keyOf(item, key, shape, strictness);
    if (value === undefined) return undefined;
    keyValues.set(key, value);
  }
  return keyElement(Object.fromEntries(keyValues));
}
