import { deepEqual, type JsonValue } from "../../base/json/value.ts";
import { FieldSet, fieldElement } from "./field-set.ts";
import { elementOfItem, partsOf, sameKeys, type Part, type Position } from "./parts.ts";
import { readNewPart, readPart } from "./read-set.ts";
import type { Shape } from "./shape.ts";

/** The differences of two objects. A field is in at most one of the sets. */
export interface Comparison {
  /** Fields that only the second object has. */
  readonly added: FieldSet;
  /** Leaves that both objects have, with different values. */
  readonly modified: FieldSet;
  /** Fields that only the first object has, with the removed objects, lists and null members. */
  readonly removed: FieldSet;
}

/** Compares two objects in one walk, without creating sets of unchanged fields. */
export function compareTyped(before: unknown, after: unknown, shape: Shape): Comparison {
  if (before === after) return same;
  const shapeOf = memberShapes(shape);
  return shapeOf !== undefined && isObject(before) && isObject(after)
    ? new MemberComparison(before, after, shapeOf).comparison
    : compareParts(partsOf(before, shape, "lenient") ?? noParts, partsOf(after, shape, "lenient") ?? noParts);
}

const noParts: readonly Part[] = [];
const same: Comparison = { added: FieldSet.empty, modified: FieldSet.empty, removed: FieldSet.empty };

/** Compares two objects member by member. Most members are equal, so the maps are created at the first difference. */
class MemberComparison {
  private added: Map<string, FieldSet> | undefined;
  private modified: Map<string, FieldSet> | undefined;
  private removed: Map<string, FieldSet> | undefined;
  /** Number of members with a shape in each object. */
  oldCount = 0;
  newCount = 0;

  constructor(before: JsonObject, after: JsonObject, shapeOf: ShapeOf) {
    for (const name in after) {
      const value = after[name];
      const shape = value === undefined ? undefined : shapeOf(name);
      if (shape === undefined) continue;
      this.newCount++;
      const oldValue = memberOf(before, name);
      if (oldValue === undefined) this.add(name, value, shape);
      else {
        this.oldCount++;
        if (oldValue !== value) this.compare(name, oldValue, value, shape);
      }
    }
    for (const name in before) {
      const oldValue = before[name];
      if (oldValue === undefined || memberOf(after, name) !== undefined) continue;
      const shape = shapeOf(name);
      if (shape === undefined) continue;
      this.oldCount++;
      this.remove(name, oldValue, shape);
    }
  }

  get comparison(): Comparison {
    const { added, modified, removed } = this;
    if (added === undefined && modified === undefined && removed === undefined) return same;
    return { added: setOf(added), modified: setOf(modified), removed: setOf(removed) };
  }

  private add(name: string, value: unknown, shape: Shape): void {
    const element = fieldElement(name);
    (this.added ??= new Map()).set(element, readNewPart({ element, value, shape }));
  }

  private remove(name: string, value: unknown, shape: Shape): void {
    const element = fieldElement(name);
    (this.removed ??= new Map()).set(element, readNewPart({ element, value, shape }));
  }

  private compare(name: string, oldValue: unknown, newValue: unknown, shape: Shape): void {
    if (shape.kind === "leaf" && typeof oldValue !== "object" && typeof newValue !== "object") {
      (this.modified ??= new Map()).set(fieldElement(name), FieldSet.leaf);
      return;
    }
    const element = fieldElement(name);
    const below = comparePart({ element, value: oldValue, shape }, { element, value: newValue, shape });
    if (below === same) return;
    if (!below.added.isEmpty) (this.added ??= new Map()).set(element, below.added);
    if (!below.modified.isEmpty) (this.modified ??= new Map()).set(element, below.modified);
    if (!below.removed.isEmpty) (this.removed ??= new Map()).set(element, below.removed);
  }
}

function setOf(children: ReadonlyMap<string, FieldSet> | undefined): FieldSet {
  return children === undefined ? FieldSet.empty : FieldSet.of(false, children);
}

type JsonObject = Readonly<Record<string, unknown>>;
type ShapeOf = (name: string) => Shape | undefined;

/** Returns the shapes of the members of an object; undefined if the shape has no members. */
function memberShapes(shape: Shape): ShapeOf | undefined {
  if (shape.kind === "struct") return shape.member;
  if (shape.kind === "map") return () => shape.element;
  return shape.kind === "deduced" ? () => shape : undefined;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns an own member. Inherited members, such as methods, are not part of the JSON object. */
function memberOf(object: JsonObject, name: string): unknown {
  const value = object[name];
  if (typeof value !== "function" && name !== "__proto__") return value;
  return Object.hasOwn(object, name) ? value : undefined;
}

function compareParts(before: readonly Part[], after: readonly Part[]): Comparison {
  const added = new Map<string, FieldSet>();
  const modified = new Map<string, FieldSet>();
  const removed = new Map<string, FieldSet>();
  const unmatched = new Map(before.map((part) => [part.element, part]));
  for (const part of after) {
    const { element } = part;
    const oldPart = unmatched.get(element);
    unmatched.delete(element);
    if (oldPart === undefined) added.set(element, readNewPart(part));
    else {
      const below = comparePart(oldPart, part);
      if (!below.added.isEmpty) added.set(element, below.added);
      if (!below.modified.isEmpty) modified.set(element, below.modified);
      if (!below.removed.isEmpty) removed.set(element, below.removed);
    }
  }
  for (const [element, part] of unmatched) removed.set(element, readNewPart(part));
  return {
    added: FieldSet.of(false, added),
    modified: FieldSet.of(false, modified),
    removed: FieldSet.of(false, removed),
  };
}

/** Maximum number of different items for which `compareFewItems` is used. */
const fewItems = 8;

/**
 * Compares two lists of equal length in which at most a few items differ, and those have the same unique keys at the same index.
 * Creates path elements only for the different items. Returns undefined for other lists.
 */
function compareFewItems(
  before: readonly unknown[],
  after: readonly unknown[],
  shape: Shape & { kind: "items" },
): Comparison | undefined {
  if (before.length !== after.length) return undefined;
  const differing: number[] = [];
  for (const [index, item] of after.entries()) {
    if (deepEqual(before[index] as JsonValue, item as JsonValue)) continue;
    if (differing.push(index) > fewItems || !sameKeys(before[index], item, shape)) return undefined;
  }
  const isDuplicate = (index: number) =>
    after.some((item, other) => other !== index && sameKeys(item, after[index], shape));
  if (differing.some(isDuplicate)) return undefined;
  const parts = (list: readonly unknown[]): Part[] =>
    differing.map((index) => {
      const element = elementOfItem(list[index], shape, "lenient")!;
      return { element, value: list[index], shape: shape.element, includesPath: true };
    });
  return compareParts(parts(before), parts(after));
}

/** Whether both are objects or both are lists; a null counts as either. */
function haveSameType(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object") return false;
  return a === null || b === null || Array.isArray(a) === Array.isArray(b);
}

/** Compares the values of a part that both objects have. */
function comparePart(before: Position, after: Position): Comparison {
  if (before.value === after.value) return same;
  const shapeOf = memberShapes(after.shape);
  if (shapeOf !== undefined && isObject(before.value) && isObject(after.value)) {
    const members = new MemberComparison(before.value, after.value, shapeOf);
    if (members.oldCount > 0 || members.newCount > 0) return members.comparison;
  } else if (deepEqual(before.value as JsonValue, after.value as JsonValue)) return same;
  else if (after.shape.kind === "items" && Array.isArray(before.value) && Array.isArray(after.value)) {
    const comparison = compareFewItems(before.value, after.value, after.shape);
    if (comparison !== undefined) return comparison;
  }
  const oldParts = partsOf(before.value, before.shape, "lenient") ?? noParts;
  const newParts = partsOf(after.value, after.shape, "lenient") ?? noParts;
  if (oldParts.length > 0 && newParts.length > 0) return compareParts(oldParts, newParts);
  // An empty object or list, or a null in its place, has no fields: only the fields of the other one count.
  if (oldParts.length !== newParts.length && haveSameType(before.value, after.value))
    return compareParts(oldParts, newParts);
  if (oldParts.length === 0 && newParts.length === 0) {
    const equal = deepEqual(before.value as JsonValue, after.value as JsonValue);
    return equal ? same : { ...same, modified: FieldSet.leaf };
  }
  // A leaf became an object or a list, or the reverse.
  const includesPath = !after.element.startsWith("f:");
  const oldSet = readPart({ ...before, includesPath }, "lenient");
  const newSet = readPart({ ...after, includesPath }, "lenient");
  return { ...same, added: newSet.difference(oldSet), removed: oldSet.difference(newSet) };
}
