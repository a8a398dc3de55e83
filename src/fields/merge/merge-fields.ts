import { FieldSet } from "../apply/field-set.ts";
import type { Shape } from "../apply/shape.ts";
import type { FieldPath, FieldValue } from "../undo/field-values.ts";
import { revertFields, type ConflictRule } from "../undo/revert-fields.ts";

/** The value of a field that both sides have changed: that of the side that is written (`ours`), or of the other one (`theirs`). */
export type MergeStrategy = "ours" | "theirs";

/** Three values of an object or a field. */
export interface MergeSides {
  /** The value that both sides began with. */
  readonly base: FieldValue;
  /** The value of the side whose changes are merged. */
  readonly theirs: FieldValue;
  /** The value of the side into which they are merged. */
  readonly ours: FieldValue;
}

/** A field that both sides have changed to different values. */
export interface MergeConflict extends MergeSides {
  readonly path: FieldPath;
}

/** The result of a merge. */
export interface FieldMerge {
  /** `ours` itself if nothing is to be changed. Shares parts with the arguments. */
  readonly value: FieldValue;
  readonly conflicts: readonly MergeConflict[];
}

const rules: Readonly<Record<MergeStrategy, ConflictRule>> = {
  ours: { comparesWhole: true, resolve: ({ now }) => now },
  theirs: { comparesWhole: true, resolve: ({ before }) => before },
};

/**
 * Merges the changes of one side into the other one, field by field: a field that only one side has changed gets its value, and items of
 * lists with keys are found by them. A field that both have changed to different values is a conflict; so is a struct or an item with keys
 * that one side has removed and the other one has changed.
 *
 * @param ignored fields that are neither changed nor compared.
 * @param strategy of the values of conflicts.
 */
export function mergeFields(
  { base, theirs, ours }: MergeSides,
  shape: Shape,
  ignored: FieldSet = FieldSet.empty,
  strategy: MergeStrategy = "ours",
): FieldMerge {
  // Taking the change from theirs to the base back in ours makes the change from the base to theirs.
  const { value, conflicts } = revertFields(theirs, base, ours, shape, ignored, rules[strategy]);
  return {
    value,
    conflicts: conflicts.map(({ path, before, after, now }) => ({
      path,
      base: after,
      theirs: before,
      ours: now,
    })),
  };
}
