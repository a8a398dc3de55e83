import { deepEqual, type JsonValue } from "../../base/json/value.ts";
import { FieldSet, fieldElement } from "./field-set.ts";
import { elementOfItem, partsOf, sameKeys, type Part, type Position } from "./parts.ts";
import { setOfNewPart, setOfPart } from "./read-set.ts";
import type { Shape } from "./shape.ts";

/** How one object differs from another: no field is in two of the sets. */
export interface Comparison {
  /** Fields of the second that the first doesn't have. */
  readonly added: FieldSet;
  /** Leaves that are in both and differ. */
  readonly modified: FieldSet;
  /** Fields of the first that the second doesn't have, with the objects and lists that went with them, and their nulls. */
  readonly removed: FieldSet;
}

/** Compares two objects in one walk; no sets are made of what is in both. */
export function compareTyped(before: unknown, after: unknown, shape: Shape): Comparison {
  if (before === after) return same;
  const shapeOf = memberShapes(shape);
  return shapeOf !== undefined && isObject(before) && isObject(after)
    ? new Members(before, after, shapeOf).comparison
    : compareParts(partsOf(before, shape, "lenient") ?? noParts, partsOf(after, shape, "lenient") ?? noParts);
}

const noParts: readonly Part[] = [];
const same: Comparison = { added: FieldSet.empty, modified: FieldSet.empty, removed: FieldSet.empty };

/**
 * Two objects, member by member. Most of what is compared is the same on both sides, so nothing is made before a difference
 * is found.
 */
class Members {
  private added: Map<string, FieldSet> | undefined;
  private modified: Map<string, FieldSet> | undefined;
  private removed: Map<string, FieldSet> | undefined;
  /** How many parts each side has. */
  old = 0;
  fresh = 0;

  constructor(old: JsonObject, fresh: JsonObject, shapeOf: ShapeOf) {
    for (const name in fresh) {
      const value = fresh[name];
      const shape = value === undefined ? undefined : shapeOf(name);
      if (shape === undefined) continue;
      this.fresh++;
      const was = memberOf(old, name);
      if (was === undefined) this.add(name, value, shape);
      else {
        this.old++;
        if (was !== value) this.compare(name, was, value, shape);
      }
    }
    for (const name in old) {
      const was = old[name];
      if (was === undefined || memberOf(fresh, name) !== undefined) continue;
      const shape = shapeOf(name);
      if (shape === undefined) continue;
      this.old++;
      this.remove(name, was, shape);
    }
  }

  get comparison(): Comparison {
    const { added, modified, removed } = this;
    if (added === undefined && modified === undefined && removed === undefined) return same;
    return { added: setOf(added), modified: setOf(modified), removed: setOf(removed) };
  }

  private add(name: string, value: unknown, shape: Shape): void {
    const element = fieldElement(name);
    (this.added ??= new Map()).set(element, setOfNewPart({ element, value, shape }));
  }

  private remove(name: string, value: unknown, shape: Shape): void {
    const element = fieldElement(name);
    (this.removed ??= new Map()).set(element, setOfNewPart({ element, value, shape }));
  }

  private compare(name: string, was: unknown, is: unknown, shape: Shape): void {
    if (shape.kind === "leaf" && typeof was !== "object" && typeof is !== "object") {
      (this.modified ??= new Map()).set(fieldElement(name), FieldSet.leaf);
      return;
    }
    const element = fieldElement(name);
    const below = comparePart({ element, value: was, shape }, { element, value: is, shape });
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

/** The shapes of the members of an object; undefined for what isn't an object of members. */
function memberShapes(shape: Shape): ShapeOf | undefined {
  if (shape.kind === "struct") return shape.member;
  if (shape.kind === "map") return () => shape.element;
  return shape.kind === "deduced" ? () => shape : undefined;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An own member; what is inherited is never JSON. */
function memberOf(object: JsonObject, name: string): unknown {
  const value = object[name];
  if (typeof value !== "function" && name !== "__proto__") return value;
  return Object.hasOwn(object, name) ? value : undefined;
}

function compareParts(old: readonly Part[], fresh: readonly Part[]): Comparison {
  const added = new Map<string, FieldSet>();
  const modified = new Map<string, FieldSet>();
  const removed = new Map<string, FieldSet>();
  const left = new Map(old.map((part) => [part.element, part]));
  for (const part of fresh) {
    const { element } = part;
    const was = left.get(element);
    left.delete(element);
    if (was === undefined) added.set(element, setOfNewPart(part));
    else {
      const below = comparePart(was, part);
      if (!below.added.isEmpty) added.set(element, below.added);
      if (!below.modified.isEmpty) modified.set(element, below.modified);
      if (!below.removed.isEmpty) removed.set(element, below.removed);
    }
  }
  for (const [element, part] of left) removed.set(element, setOfNewPart(part));
  return {
    added: FieldSet.of(false, added),
    modified: FieldSet.of(false, modified),
    removed: FieldSet.of(false, removed),
  };
}

/** Maximum number of differing items for the comparison one by one. */
const fewItems = 8;

/**
 * Compares lists whose items are the same, one by one, but for a few that differ and are still told apart by their keys; makes
 * elements of only those. Undefined for other lists.
 */
function compareFewItems(
  old: readonly unknown[],
  fresh: readonly unknown[],
  shape: Shape & { kind: "items" },
): Comparison | undefined {
  if (old.length !== fresh.length) return undefined;
  const differing: number[] = [];
  for (const [index, item] of fresh.entries()) {
    if (deepEqual(old[index] as JsonValue, item as JsonValue)) continue;
    if (differing.push(index) > fewItems || !sameKeys(old[index], item, shape)) return undefined;
  }
  const isTwice = (index: number) =>
    fresh.some((item, other) => other !== index && sameKeys(item, fresh[index], shape));
  if (differing.some(isTwice)) return undefined;
  const parts = (list: readonly unknown[]): Part[] =>
    differing.map((index) => {
      const element = elementOfItem(list[index], shape, "lenient")!;
      return { element, value: list[index], shape: shape.element, isOwn: true };
    });
  return compareParts(parts(old), parts(fresh));
}

function arePlaces(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object") return false;
  return a === null || b === null || Array.isArray(a) === Array.isArray(b);
}

/** What differs at and below a place that both have. */
function comparePart(was: Position, is: Position): Comparison {
  if (was.value === is.value) return same;
  const shapeOf = memberShapes(is.shape);
  if (shapeOf !== undefined && isObject(was.value) && isObject(is.value)) {
    const members = new Members(was.value, is.value, shapeOf);
    if (members.old > 0 || members.fresh > 0) return members.comparison;
  } else if (deepEqual(was.value as JsonValue, is.value as JsonValue)) return same;
  else if (is.shape.kind === "items" && Array.isArray(was.value) && Array.isArray(is.value)) {
    const few = compareFewItems(was.value, is.value, is.shape);
    if (few !== undefined) return few;
  }
  const old = partsOf(was.value, was.shape, "lenient") ?? noParts;
  const fresh = partsOf(is.value, is.shape, "lenient") ?? noParts;
  if (old.length > 0 && fresh.length > 0) return compareParts(old, fresh);
  // What is empty, or a null that stands for an object or list, is its place.
  if (old.length !== fresh.length && arePlaces(was.value, is.value)) return compareParts(old, fresh);
  if (old.length === 0 && fresh.length === 0) {
    const equal = deepEqual(was.value as JsonValue, is.value as JsonValue);
    return equal ? same : { ...same, modified: FieldSet.leaf };
  }
  // A leaf became a holder of others, or the other way round.
  const isOwn = !is.element.startsWith("f:");
  const before = setOfPart({ ...was, isOwn }, "lenient");
  const after = setOfPart({ ...is, isOwn }, "lenient");
  return { ...same, added: after.difference(before), removed: before.difference(after) };
}
