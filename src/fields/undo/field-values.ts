import { deepEqual, isObject, type JsonValue } from "../../base/json/value.ts";
import { fieldElement, valueElement } from "../apply/field-set.ts";
import { elementOfItem } from "../apply/parts.ts";
import { deducedShape, isParent, memberShape, type Shape } from "../apply/shape.ts";

/** A value of an object; undefined for an absent one. */
export type FieldValue = JsonValue | undefined;

/** The path of a field, with elements as in `fieldsV1` ({@link FieldSet}). */
export type FieldPath = readonly string[];

/** A part of a granular value. */
export interface ValuePart {
  readonly value: JsonValue;
  readonly shape: Shape;
}

/** Parts of a granular value by path element, in their order; undefined for an atomic value. */
export type ValueParts = ReadonlyMap<string, ValuePart> | undefined;

/** What the values of a field are together: the parts are read in the same way from each of them. */
export type ValueForm = "object" | "list" | "atomic";

const leaf: Shape = { kind: "leaf" };
const noParts: ReadonlyMap<string, ValuePart> = new Map();

export function sameValue(a: FieldValue, b: FieldValue): boolean {
  if (a === undefined || b === undefined) return a === b;
  return deepEqual(a, b);
}

/** Returns the form in which all values have parts; absent values and nulls have no parts in any form. */
export function formOf(values: readonly FieldValue[], shape: Shape): ValueForm {
  const present = values.filter((value) => value !== undefined && value !== null);
  if (present.length === 0) return "atomic";
  if (isParent(shape)) return present.every(isObject) ? "object" : "atomic";
  if (shape.kind === "leaf") return "atomic";
  return present.every((value) => Array.isArray(value)) ? "list" : "atomic";
}

/**
 * Returns the parts of a value.
 *
 * @param form of the value; not atomic.
 * @returns undefined for a list whose items can't be identified: one has no keys, or two have the same.
 */
export function partsIn(value: FieldValue, shape: Shape, form: ValueForm): ValueParts {
  if (value === undefined || value === null) return noParts;
  if (form === "object" && isObject(value) && isParent(shape)) {
    const parts = new Map<string, ValuePart>();
    for (const name of Object.keys(value)) {
      const member = value[name];
      if (member === undefined) continue;
      // Members that the schema no longer declares are compared as without a schema.
      const below = memberShape(shape, name) ?? deducedShape;
      parts.set(fieldElement(name), { value: member, shape: below });
    }
    return parts;
  }
  return Array.isArray(value) ? itemsIn(value, shape) : undefined;
}

function itemsIn(items: readonly JsonValue[], shape: Shape): ValueParts {
  const parts = new Map<string, ValuePart>();
  for (const value of items) {
    const element = shape.kind === "items" ? elementOfItem(value, shape, "lenient") : valueElement(value);
    if (element === undefined || parts.has(element)) return undefined;
    parts.set(element, { value, shape: shape.kind === "items" ? shape.element : leaf });
  }
  return parts;
}
