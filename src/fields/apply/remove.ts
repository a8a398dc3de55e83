import { FieldSet, fieldElement, valueElement } from "./field-set.ts";
import { elementOfItem } from "./parts.ts";
import { shapeBelow, type Shape } from "./shape.ts";

type JsonObject = Record<string, unknown>;

/**
 * An object without the fields of a set: a member of the set goes with everything below it, and what is left empty by that
 * goes too, but for members of `kept`. The input isn't changed; the result shares parts with it.
 */
export function removeFields(
  value: unknown,
  set: FieldSet,
  shape: Shape,
  preserved = FieldSet.empty,
): unknown {
  return removeBelow(value, set, shape, preserved) ?? {};
}

/** Undefined when nothing is left. */
function removeBelow(value: unknown, set: FieldSet, shape: Shape, preserved: FieldSet): unknown {
  if (set.children.size === 0 || value === null) return value;
  switch (shape.kind) {
    case "leaf":
      return value;
    case "deduced":
      return isObject(value) ? withoutMembers(value, set, () => shape, preserved) : value;
    case "struct":
      return isObject(value) ? withoutMembers(value, set, (name) => shape.member(name), preserved) : value;
    case "map":
      return isObject(value) ? withoutMembers(value, set, () => shape.element, preserved) : value;
    case "set":
      return Array.isArray(value)
        ? some(value.filter((item) => !set.below(valueElement(item)).isMember))
        : value;
    case "items":
      return Array.isArray(value) ? withoutItems(value, set, shape, preserved) : value;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function withoutMembers(
  value: JsonObject,
  set: FieldSet,
  shapeOf: (name: string) => Shape | undefined,
  kept: FieldSet,
): JsonObject | undefined {
  const rest: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const element = fieldElement(name);
    const below = set.below(element);
    const shape = shapeOf(name);
    if (below.isEmpty || shape === undefined) rest.push([name, member]);
    else if (!below.isMember) {
      const own = kept.below(element);
      const left = removeBelow(member, below, shape, own);
      if (left !== undefined) rest.push([name, left]);
      else if (own.isMember) rest.push([name, Array.isArray(member) ? [] : {}]);
    }
  }
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}

function withoutItems(
  items: readonly unknown[],
  set: FieldSet,
  shape: Shape & { kind: "items" },
  kept: FieldSet,
): unknown[] | undefined {
  const rest: unknown[] = [];
  for (const item of items) {
    const element = elementOfItem(item, shape, "lenient");
    const below = element === undefined ? FieldSet.empty : set.below(element);
    if (below.isEmpty) rest.push(item);
    else if (!below.isMember) {
      const left = removeBelow(item, below, shape.element, kept.below(element!));
      if (left !== undefined) rest.push(left);
    }
  }
  return some(rest);
}

function some(items: unknown[]): unknown[] | undefined {
  return items.length === 0 ? undefined : items;
}

/**
 * The set with every place that leads to a field of it made a member too, and with the keys of every item in it: whoever
 * owns a field keeps the objects and the item that hold it.
 */
export function withHolders(set: FieldSet, shape: Shape): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [element, below] of set.children) {
    const own = shapeBelow(shape, element);
    const held = own === undefined ? below : withHolders(below, own);
    // An item that is owned as one has its keys in it.
    const isTakenApart = shape.kind === "items" && shape.element.kind !== "leaf";
    const kept = isTakenApart ? withKeys(held, shape.keys) : held.children;
    children.set(element, FieldSet.of(true, kept));
  }
  return FieldSet.of(set.isMember, children);
}

/** The set with every place that leads to a field of it made a member too. */
export function withPlaces(set: FieldSet): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [element, below] of set.children)
    children.set(element, FieldSet.of(true, withPlaces(below).children));
  return FieldSet.of(set.isMember, children);
}

/**
 * The set with the declared members of objects that lead to a field of it made members too: whoever gives up all that they own
 * of such a member gives up the member, with the defaults in it that nobody owns.
 */
export function withNamedHolders(set: FieldSet, shape: Shape): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [element, below] of set.children) {
    const own = shapeBelow(shape, element);
    const held = own === undefined ? below : withNamedHolders(below, own);
    const isNamed = shape.kind === "struct" && own !== undefined;
    children.set(element, isNamed ? FieldSet.of(true, held.children) : held);
  }
  return FieldSet.of(set.isMember, children);
}

function withKeys({ children }: FieldSet, keys: readonly string[]): ReadonlyMap<string, FieldSet> {
  const all = new Map(children);
  for (const key of keys) {
    const element = fieldElement(key);
    if (!all.has(element)) all.set(element, FieldSet.leaf);
  }
  return all;
}
