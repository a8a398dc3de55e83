import { isEqual, isRecord, memberOf } from "./paths.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A field of another version; an undefined value removes it. */
export interface FieldValue {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** A field that both have changed, to different values. */
export interface MergeConflict {
  readonly path: readonly string[];
  readonly mine: unknown;
  readonly theirs: unknown;
}

/** What an edit has to take over from a newer version of its object. */
export interface Merge {
  /** Fields that only the newer version has changed. */
  readonly changes: readonly FieldValue[];
  readonly conflicts: readonly MergeConflict[];
}

/**
 * Compares an edited object and a newer version with the version that both began with, field by field. A list is one field.
 *
 * @param base the version that was edited
 */
export function mergeOf(base: Fields, mine: Fields, theirs: Fields): Merge {
  const changes: FieldValue[] = [];
  const conflicts: MergeConflict[] = [];
  const compare = (before: Fields, edited: Fields, newer: Fields, path: readonly string[]): void => {
    for (const key of new Set([...Object.keys(before), ...Object.keys(newer)])) {
      const [old, own, other] = [memberOf(before, key), memberOf(edited, key), memberOf(newer, key)];
      if (isEqual(other, old) || isEqual(other, own)) continue;
      const below = [...path, key];
      if (isEqual(own, old)) changes.push({ path: below, value: other });
      else if (isRecord(own) && isRecord(other)) compare(isRecord(old) ? old : {}, own, other, below);
      else conflicts.push({ path: below, mine: own, theirs: other });
    }
  };
  compare(base, mine, theirs, []);
  return { changes, conflicts };
}
