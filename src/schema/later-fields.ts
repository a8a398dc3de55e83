import { isLater, type Release } from "../base/releases.ts";
import type { Field, Fields } from "./types.ts";

/** A field in the releases from `since` on; without a field, it is removed. */
export interface LaterField {
  readonly since: Release;
  readonly field: Field | undefined;
}

/**
 * The fields that releases after the reference release add, replace or remove, by JSON name. Several changes of one field are a list
 * in the order of their releases.
 */
export type LaterFields = Readonly<Record<string, LaterField | readonly LaterField[]>>;

/** Declares a field that a release adds, or whose declaration it replaces. */
export function since(release: Release, field: Field): LaterField {
  return { since: release, field };
}

/** Declares that a release no longer has a field. */
export function removedIn(release: Release): LaterField {
  return { since: release, field: undefined };
}

/** Returns the fields of a struct in a release. */
export function fieldsInRelease(fields: Fields, later: LaterFields, release: Release): Fields {
  const result: Record<string, Field> = { ...fields };
  for (const [name, changes] of Object.entries(later)) {
    for (const { since: first, field } of [changes].flat()) {
      if (isLater(first, release)) continue;
      if (field === undefined) delete result[name];
      else result[name] = field;
    }
  }
  return result;
}
