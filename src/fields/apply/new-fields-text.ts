import { encodeString } from "../../base/json/encode.ts";
import { deepEqual, type JsonValue } from "../../base/json/value.ts";
import { fieldElement, inOrder, valueElement, type FieldSet } from "./field-set.ts";
import { elementOfItem } from "./parts.ts";
import type { Shape } from "./shape.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * The text of the set of fields that a new object has beyond those that every object of its kind has (`zero`): what
 * `fieldSetText` makes of what `compareTyped` finds added and modified, in one walk and without the set.
 *
 * @param ignored fields without an owner.
 */
export function textOfNewFields(value: unknown, zero: unknown, shape: Shape, ignored: FieldSet): string {
  const shapeOf = memberShapes(shape);
  if (shapeOf === undefined || !isObject(value)) return "{}";
  return `{${changedMembers(value, isObject(zero) ? zero : {}, shapeOf, ignored)}}`;
}

type ShapeOf = (name: string) => Shape | undefined;

function memberShapes(shape: Shape): ShapeOf | undefined {
  if (shape.kind === "struct") return shape.member;
  if (shape.kind === "map") return () => shape.element;
  return shape.kind === "deduced" ? () => shape : undefined;
}

/** The texts of the members that aren't as in another object. */
function changedMembers(value: JsonObject, zero: JsonObject, shapeOf: ShapeOf, ignored: FieldSet): string {
  let text = "";
  for (const name of inOrder(Object.keys(value))) {
    const member = value[name];
    const shape = member === undefined ? undefined : shapeOf(name);
    if (shape === undefined) continue;
    const element = fieldElement(name);
    const below = ignored.isEmpty ? ignored : ignored.below(element);
    if (below.isMember) continue;
    const was = Object.hasOwn(zero, name) ? zero[name] : undefined;
    const own = was === undefined ? wholePart(member, shape, below) : changedPart(member, was, shape, below);
    if (own !== undefined) text += `${text === "" ? "" : ","}${encodeString(element)}:{${own}}`;
  }
  return text;
}

/** What differs at and below a place that both have; undefined for nothing. */
function changedPart(value: unknown, was: unknown, shape: Shape, ignored: FieldSet): string | undefined {
  const shapeOf = memberShapes(shape);
  if (shapeOf !== undefined && isObject(value) && Object.keys(value).length > 0) {
    const text = changedMembers(value, isObject(was) ? was : {}, shapeOf, ignored);
    return text === "" ? undefined : text;
  }
  // No list of a kind's zero object has items.
  if (Array.isArray(value) && value.length > 0) {
    const text = listParts(value, shape, ignored);
    if (text !== undefined) return text;
  }
  // What is empty now, and held something, has only lost it; what is owned as one is looked at as one.
  if (shape.kind !== "leaf" && isPlace(value) && isPlace(was)) return undefined;
  return deepEqual(value as JsonValue, was as JsonValue) ? undefined : "";
}

function isPlace(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** What is at and below a place that is new: the place itself, and every place in it. */
function wholePart(value: unknown, shape: Shape, ignored: FieldSet): string {
  const shapeOf = memberShapes(shape);
  let below: string | undefined;
  if (shapeOf !== undefined && isObject(value)) below = changedMembers(value, nothing, shapeOf, ignored);
  else if (Array.isArray(value)) below = listParts(value, shape, ignored);
  return below === undefined || below === "" ? "" : `".":{},${below}`;
}

const nothing: JsonObject = {};

/** The items of a list that are owned one by one; undefined for a list that is owned as one. */
function listParts(list: readonly unknown[], shape: Shape, ignored: FieldSet): string | undefined {
  if (shape.kind === "set") {
    const elements = inOrder([...new Set(list.map(valueElement))]);
    return elements.map((element) => `${encodeString(element)}:{}`).join(",");
  }
  if (shape.kind !== "items") return undefined;
  const byElement = new Map<string, unknown>();
  for (const item of list) {
    const element = elementOfItem(item, shape, "lenient");
    if (element !== undefined && !byElement.has(element)) byElement.set(element, item);
  }
  return inOrder([...byElement.keys()])
    .map((element) => {
      const below = ignored.isEmpty ? ignored : ignored.below(element);
      return `${encodeString(element)}:{${wholePart(byElement.get(element), shape.element, below)}}`;
    })
    .join(",");
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
