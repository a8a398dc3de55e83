import { FieldSet } from "../apply/field-set.ts";
import type { Shape } from "../apply/shape.ts";
import {
  formOf,
  partsIn,
  sameValue,
  type FieldPath,
  type FieldValue,
  type ValuePart,
} from "./field-values.ts";

/** A field with different values in two objects. */
export interface FieldDifference {
  readonly path: FieldPath;
  /** Absent if the first object lacks the field. */
  readonly from: FieldValue;
  /** Absent if the second object lacks the field. */
  readonly to: FieldValue;
}

/**
 * Returns the fields with different values, each as far below the root as both values have parts. A list of which only the order
 * differs is one field.
 *
 * @param ignored fields that are not compared.
 */
export function fieldDifferences(
  from: FieldValue,
  to: FieldValue,
  shape: Shape,
  ignored: FieldSet = FieldSet.empty,
): FieldDifference[] {
  const result: FieldDifference[] = [];
  collect({ path: [], from, to }, shape, ignored, result);
  return result;
}

function collect(
  difference: FieldDifference,
  shape: Shape,
  ignored: FieldSet,
  result: FieldDifference[],
): void {
  const { path, from, to } = difference;
  if (ignored.isMember || sameValue(from, to)) return;
  const isWhole = ignored.isEmpty && (from === undefined || to === undefined);
  const form = isWhole ? "atomic" : formOf([from, to], shape);
  const [old, fresh] = form === "atomic" ? [] : [partsIn(from, shape, form), partsIn(to, shape, form)];
  if (old === undefined || fresh === undefined) {
    result.push(difference);
    return;
  }
  const count = result.length;
  for (const [element, part] of new Map<string, ValuePart>([...old, ...fresh])) {
    const below = { path: [...path, element], from: old.get(element)?.value, to: fresh.get(element)?.value };
    collect(below, part.shape, ignored.below(element), result);
  }
  // The parts are the same: the order or the presence of an empty value differs.
  if (result.length === count && ignored.isEmpty) result.push(difference);
}
