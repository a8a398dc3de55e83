import { encodeString } from "../../base/json/encode.ts";
import { deepEqual, type JsonValue } from "../../base/json/value.ts";
import { fieldElement, sortTexts, valueElement, type FieldSet } from "./field-set.ts";
import { elementOfItem } from "./parts.ts";
import { isParent, memberShape, openingOf, type ParentShape, type Shape } from "./shape.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Returns the text of the set of fields in which a new object differs from the zero object of its kind: as `fieldSetText` of the
 * added and modified fields of `compareTyped`, but in one walk and without creating the set.
 *
 * @param ignored fields that never have an owner.
 */
export function textOfNewFields(value: unknown, zero: unknown, shape: Shape, ignored: FieldSet): string {
  if (!isParent(shape) || !isObject(value)) return "{}";
  return `{${changedMembers(value, isObject(zero) ? zero : nothing, shape, ignored)}}`;
}

/** Returns the texts of the members that differ from the zero object. */
function changedMembers(value: JsonObject, zero: JsonObject, parent: ParentShape, ignored: FieldSet): string {
  const opening = parent.kind === "struct" ? parent.opening : openingOf;
  let text = "";
  for (const name of sortTexts(Object.keys(value))) {
    const member = value[name];
    const shape = member === undefined ? undefined : memberShape(parent, name);
    if (shape === undefined) continue;
    const below = ignored.isEmpty ? ignored : ignored.below(fieldElement(name));
    if (below.isMember) continue;
    const zeroMember = zero !== nothing && Object.hasOwn(zero, name) ? zero[name] : undefined;
    const fields =
      zeroMember === undefined
        ? wholePart(member, shape, below)
        : changedPart(member, zeroMember, shape, below);
    if (fields === undefined) continue;
    if (text !== "") text += ",";
    text += `${opening(name)}${fields}}`;
  }
  return text;
}

/** Returns the text of the differences of a part that both objects have; undefined if there are none. */
function changedPart(value: unknown, zero: unknown, shape: Shape, ignored: FieldSet): string | undefined {
  if (isParent(shape) && isObject(value) && Object.keys(value).length > 0) {
    const text = changedMembers(value, isObject(zero) ? zero : nothing, shape, ignored);
    return text === "" ? undefined : text;
  }
  // The lists of a zero object are empty.
  if (Array.isArray(value) && value.length > 0) {
    const text = listParts(value, shape, ignored);
    if (text !== undefined) return text;
  }
  // A granular value that is empty now has no added or modified fields.
  if (shape.kind !== "leaf" && isContainer(value) && isContainer(zero)) return undefined;
  return deepEqual(value as JsonValue, zero as JsonValue) ? undefined : "";
}

function isContainer(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** Returns the text of an added part: its own path and all paths in it. */
function wholePart(value: unknown, shape: Shape, ignored: FieldSet): string {
  if (shape.kind === "leaf") return "";
  let below: string | undefined;
  if (isParent(shape) && isObject(value)) below = changedMembers(value, nothing, shape, ignored);
  else if (Array.isArray(value)) below = listParts(value, shape, ignored);
  return below === undefined || below === "" ? "" : `".":{},${below}`;
}

const nothing: JsonObject = {};

/** Returns the text of the items of a granular list; undefined for an atomic list. */
function listParts(list: readonly unknown[], shape: Shape, ignored: FieldSet): string | undefined {
  if (shape.kind === "set") {
    const elements = sortTexts([...new Set(list.map(valueElement))]);
    return elements.map((element) => `${encodeString(element)}:{}`).join(",");
  }
  if (shape.kind !== "items") return undefined;
  const byElement = new Map<string, unknown>();
  for (const item of list) {
    const element = elementOfItem(item, shape, "lenient");
    if (element !== undefined && !byElement.has(element)) byElement.set(element, item);
  }
  return sortTexts([...byElement.keys()])
    .map((element) => {
      const below = ignored.isEmpty ? ignored : ignored.below(element);
      return `${encodeString(element)}:{${wholePart(byElement.get(element), shape.element, below)}}`;
    })
    .join(",");
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
