import { isDeepStrictEqual } from "node:util";
import { FieldSet } from "./field-set.ts";
import { partsOf } from "./parts.ts";
import { readSet } from "./read-set.ts";
import type { Shape } from "./shape.ts";

/** How one object differs from another: no field is in two of the sets. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** What makes `after` out of `before`. */
export function compareTyped(before: unknown, after: unknown, shape: Shape): Comparison {
  const old = readSet(before, shape, "lenient");
  const fresh = readSet(after, shape, "lenient");
  return {
    added: fresh.difference(old),
    modified: FieldSet.of(false, modifiedBelow(before, after, shape)),
    removed: old.difference(fresh),
  };
}

/** Leaves that are in both and differ. */
function modifiedBelow(before: unknown, after: unknown, shape: Shape): Map<string, FieldSet> {
  const found = new Map<string, FieldSet>();
  const old = new Map((partsOf(before, shape, "lenient") ?? []).map((part) => [part.element, part]));
  for (const { element, value, shape: own } of partsOf(after, shape, "lenient") ?? []) {
    const was = old.get(element);
    if (was === undefined || was.value === value) continue;
    const isLeaf = isWhole(was.value, own) && isWhole(value, own);
    if (isLeaf) {
      if (!isDeepStrictEqual(was.value, value)) found.set(element, FieldSet.leaf);
      continue;
    }
    const below = FieldSet.of(false, modifiedBelow(was.value, value, own));
    if (!below.isEmpty) found.set(element, below);
  }
  return found;
}

/** Whether a value has no parts, so that it is a leaf. */
function isWhole(value: unknown, shape: Shape): boolean {
  return (partsOf(value, shape, "lenient")?.length ?? 0) === 0;
}
