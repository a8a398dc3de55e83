import { isDeepStrictEqual } from "node:util";
import { FieldSet } from "./field-set.ts";
import { partsOf, type Part } from "./parts.ts";
import { setOfPart } from "./read-set.ts";
import type { Shape } from "./shape.ts";

/** How one object differs from another: no field is in two of the sets. */
export interface Comparison {
  /** Fields of the second that the first doesn't have. */
  readonly added: FieldSet;
  /** Leaves that are in both and differ. */
  readonly modified: FieldSet;
  /** Fields of the first that the second doesn't have, with the objects and lists that went with them. */
  readonly removed: FieldSet;
}

/** Compares two objects in one walk; no sets are made of what is in both. */
export function compareTyped(before: unknown, after: unknown, shape: Shape): Comparison {
  return compareParts(
    partsOf(before, shape, "lenient") ?? noParts,
    partsOf(after, shape, "lenient") ?? noParts,
  );
}

const noParts: readonly Part[] = [];
const same: Comparison = { added: FieldSet.empty, modified: FieldSet.empty, removed: FieldSet.empty };

function compareParts(old: readonly Part[], fresh: readonly Part[]): Comparison {
  const added = new Map<string, FieldSet>();
  const modified = new Map<string, FieldSet>();
  const removed = new Map<string, FieldSet>();
  const left = new Map(old.map((part) => [part.element, part]));
  for (const part of fresh) {
    const { element } = part;
    const was = left.get(element);
    left.delete(element);
    if (was === undefined) added.set(element, setOfPart(part, "lenient"));
    else {
      const below = comparePart(was, part);
      if (!below.added.isEmpty) added.set(element, below.added);
      if (!below.modified.isEmpty) modified.set(element, below.modified);
      if (!below.removed.isEmpty) removed.set(element, below.removed);
    }
  }
  for (const [element, part] of left) removed.set(element, withPlaces(setOfPart(part, "lenient")));
  return {
    added: FieldSet.of(false, added),
    modified: FieldSet.of(false, modified),
    removed: FieldSet.of(false, removed),
  };
}

/** A set with every place in it a member: what holds fields goes with them, and may be owned itself. */
function withPlaces({ children }: FieldSet): FieldSet {
  if (children.size === 0) return FieldSet.leaf;
  return FieldSet.of(true, new Map([...children].map(([element, set]) => [element, withPlaces(set)])));
}

/** What differs at and below a place that both have. */
function comparePart(was: Part, is: Part): Comparison {
  if (was.value === is.value) return same;
  const old = partsOf(was.value, was.shape, "lenient") ?? noParts;
  const fresh = partsOf(is.value, is.shape, "lenient") ?? noParts;
  if (old.length > 0 && fresh.length > 0) return compareParts(old, fresh);
  if (old.length === 0 && fresh.length === 0) {
    return isDeepStrictEqual(was.value, is.value) ? same : { ...same, modified: FieldSet.leaf };
  }
  // A leaf became a holder of others, or the other way round.
  const [before, after] = [setOfPart(was, "lenient"), setOfPart(is, "lenient")];
  return { ...same, added: after.difference(before), removed: before.difference(after) };
}
