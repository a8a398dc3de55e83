import { isInRelease, Row, since } from "../base/release-rows.ts";
import type { Release } from "../base/releases.ts";
import type { Field, Fields, LaterFields } from "./types.ts";

/** The added fields, for the static type of a struct; a field that a release replaces keeps its type. */
export type AddedFields<L extends LaterFields> = {
  readonly [K in keyof L as L[K] extends Row<Field> ? K : never]: L[K] extends Row<infer A>
    ? A extends Field
      ? A
      : never
    : never;
};

/** Declares another declaration of a field from a release on: {@link since}, for a field that keeps its static type. */
export function replacedIn(release: Release, field: Field): Row<Field | undefined> {
  return since<Field | undefined>(release, field);
}

/** Declares that a release no longer has a field. */
export function removedIn(release: Release): Row<undefined> {
  return new Row(undefined, release, undefined, undefined);
}

/** Returns the later fields of a struct whose fields are inlined in another one; see `inlined`. */
export function inlinedLater<L extends Readonly<Record<string, Row<Field>>>>(number: number, later: L): L {
  const entries = Object.entries(later).map(
    ([name, row]) => [name, new Row(row.value.inside(number), row.since, row.until, row.gate)] as const,
  );
  return Object.fromEntries(entries) as unknown as L;
}

/** Returns the fields of a struct in a release. */
export function fieldsInRelease(fields: Fields, later: LaterFields, release: Release): Fields {
  const result: Record<string, Field> = { ...fields };
  for (const [name, changes] of Object.entries(later)) {
    for (const row of [changes].flat()) {
      if (!isInRelease(row, release)) continue;
      if (row.value === undefined) delete result[name];
      else result[name] = row.value;
    }
  }
  return result;
}
