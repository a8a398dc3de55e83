import { FieldSet } from "./field-set.ts";
import { nullHandlingOf, partsOf, PartsFault, type Part, type Position, type Strictness } from "./parts.ts";
import type { Shape } from "./shape.ts";

/**
 * Returns the fields of an object: its leaves, its list and set items, and its empty objects and lists. The path of the object
 * itself is not included.
 *
 * @throws {PartsFault} if strict, for a list whose items have missing or equal keys; the error has the path of the list.
 */
export function readSet(value: unknown, shape: Shape, strictness: Strictness): FieldSet {
  const parts = partsOf(value, shape, strictness, nullHandlingOf(strictness));
  return parts === undefined ? FieldSet.empty : FieldSet.of(false, below(parts, strictness));
}

function below(parts: readonly Part[], strictness: Strictness): Map<string, FieldSet> {
  const children = new Map<string, FieldSet>();
  for (const part of parts) {
    try {
      children.set(part.element, readPart(part, strictness));
    } catch (error) {
      if (error instanceof PartsFault) throw new PartsFault([part.element, ...error.elements], error.problem);
      throw error;
    }
  }
  return children;
}

/**
 * Returns the fields of an added part, with the paths of all its objects and lists, and its null members: the manager that adds
 * an object or a list owns its path too.
 */
export function readNewPart({ value, shape }: Position): FieldSet {
  const parts = partsOf(value, shape, "lenient", "include");
  if (parts === undefined || parts.length === 0) return FieldSet.leaf;
  const children = new Map<string, FieldSet>();
  for (const part of parts) children.set(part.element, readNewPart(part));
  return FieldSet.of(true, children);
}

/** As {@link readSet}, for a part: the result may include its own path. */
export function readPart({ value, shape, includesPath }: Part, strictness: Strictness): FieldSet {
  const parts = partsOf(value, shape, strictness, nullHandlingOf(strictness));
  if (parts === undefined || parts.length === 0) return FieldSet.leaf;
  return FieldSet.of(includesPath, below(parts, strictness));
}
