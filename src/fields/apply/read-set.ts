import { FieldSet } from "./field-set.ts";
import { nullsOf, partsOf, PartsFault, type Part, type Position, type Strictness } from "./parts.ts";
import type { Shape } from "./shape.ts";

/**
 * The fields of an object: its leaves, the items of its lists of items and sets, and what is empty. The object itself is
 * not among them.
 *
 * @throws {PartsFault} strictly, for lists that can't be taken apart; it names where.
 */
export function readSet(value: unknown, shape: Shape, strictness: Strictness): FieldSet {
  const parts = partsOf(value, shape, strictness, nullsOf(strictness));
  return parts === undefined ? FieldSet.empty : FieldSet.of(false, below(parts, strictness));
}

function below(parts: readonly Part[], strictness: Strictness): Map<string, FieldSet> {
  const children = new Map<string, FieldSet>();
  for (const part of parts) {
    try {
      children.set(part.element, setOfPart(part, strictness));
    } catch (error) {
      if (error instanceof PartsFault) throw new PartsFault([part.element, ...error.elements], error.problem);
      throw error;
    }
  }
  return children;
}

/**
 * The fields of a part that is new, with its place and every place in it, and members that are null: whoever brings an object
 * or list owns that it is there.
 */
export function setOfNewPart({ value, shape }: Position): FieldSet {
  const parts = partsOf(value, shape, "lenient", "kept");
  if (parts === undefined || parts.length === 0) return FieldSet.leaf;
  return FieldSet.of(true, new Map(parts.map((part) => [part.element, setOfNewPart(part)])));
}

/** The fields of a part, from its own place on; else as {@link readSet}. */
export function setOfPart({ value, shape, isOwn }: Part, strictness: Strictness): FieldSet {
  const parts = partsOf(value, shape, strictness, nullsOf(strictness));
  if (parts === undefined || parts.length === 0) return FieldSet.leaf;
  return FieldSet.of(isOwn, below(parts, strictness));
}
