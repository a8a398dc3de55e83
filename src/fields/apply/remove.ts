import { FieldSet, fieldElement, valueElement } from "./field-set.ts";
import { elementOfItem } from "./parts.ts";
import { shapeBelow, type Shape } from "./shape.ts";

type JsonObject = Record<string, unknown>;

/**
 * Returns an object without the fields of a set. A member of the set is removed with its content. Objects and lists that become
 * empty are removed too, except members of `preserved`. The input isn't changed; the result shares parts with it.
 */
export function removeFields(
  value: unknown,
  set: FieldSet,
  shape: Shape,
  preserved = FieldSet.empty,
): unknown {
  return removeBelow(value, set, shape, preserved) ?? {};
}

/** Like {@link removeFields}; returns undefined if the value becomes empty. */
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
        ? unlessEmpty(value.filter((item) => !set.below(valueElement(item)).isMember))
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
  preserved: FieldSet,
): JsonObject | undefined {
  const rest: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const element = fieldElement(name);
    const below = set.below(element);
    const shape = shapeOf(name);
    if (below.isEmpty || shape === undefined) rest.push([name, member]);
    else if (!below.isMember) {
      const preservedBelow = preserved.below(element);
      const remaining = removeBelow(member, below, shape, preservedBelow);
      if (remaining !== undefined) rest.push([name, remaining]);
      else if (preservedBelow.isMember) rest.push([name, Array.isArray(member) ? [] : {}]);
    }
  }
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}

function withoutItems(
  items: readonly unknown[],
  set: FieldSet,
  shape: Shape & { kind: "items" },
  preserved: FieldSet,
): unknown[] | undefined {
  const rest: unknown[] = [];
  for (const item of items) {
    const element = elementOfItem(item, shape, "lenient");
    const below = element === undefined ? FieldSet.empty : set.below(element);
    if (below.isEmpty) rest.push(item);
    else if (!below.isMember) {
      const remaining = removeBelow(item, below, shape.element, preserved.below(element!));
      if (remaining !== undefined) rest.push(remaining);
    }
  }
  return unlessEmpty(rest);
}

function unlessEmpty(items: unknown[]): unknown[] | undefined {
  return items.length === 0 ? undefined : items;
}

/**
 * Adds the paths of all ancestors of the members, and the keys of all list items. The owner of a field also protects the objects
 * and list items that contain it.
 */
export function withAncestorsAndKeys(set: FieldSet, shape: Shape): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [element, below] of set.children) {
    const shapeOfChild = shapeBelow(shape, element);
    const extended = shapeOfChild === undefined ? below : withAncestorsAndKeys(below, shapeOfChild);
    // The keys of an atomic item have no paths of their own.
    const isGranularItem = shape.kind === "items" && shape.element.kind !== "leaf";
    const grandchildren = isGranularItem ? withKeys(extended, shape.keys) : extended.children;
    children.set(element, FieldSet.of(true, grandchildren));
  }
  return FieldSet.of(set.isMember, children);
}

/** Adds the paths of all ancestors of the members; returns the set itself if it has them. */
export function withAncestors(set: FieldSet): FieldSet {
  let children: Map<string, FieldSet> | undefined;
  for (const [element, below] of set.children) {
    const extended = withAncestors(below);
    const withPath = extended.isMember ? extended : FieldSet.of(true, extended.children);
    if (withPath !== below) (children ??= new Map(set.children)).set(element, withPath);
  }
  return children === undefined ? set : FieldSet.of(set.isMember, children);
}

/**
 * Adds the paths of those ancestors of the members that are declared fields (`EnsureNamedFieldsAreMembers` of
 * structured-merge-diff). A manager that no longer applies any field of a declared object also removes the object, with its
 * default values that have no owner.
 */
export function withDeclaredAncestors(set: FieldSet, shape: Shape): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [element, below] of set.children) {
    const shapeOfChild = shapeBelow(shape, element);
    const extended = shapeOfChild === undefined ? below : withDeclaredAncestors(below, shapeOfChild);
    const isDeclared = shape.kind === "struct" && shapeOfChild !== undefined;
    children.set(element, isDeclared ? FieldSet.of(true, extended.children) : extended);
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
