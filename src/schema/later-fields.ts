import { isLater, type Release } from "../base/releases.ts";
import type { Field, Fields, LaterField, LaterFields } from "./types.ts";

/** The added fields, for the static type of a struct; a field that a release replaces keeps its type. */
export type AddedFields<L extends LaterFields> = {
  readonly [K in keyof L as L[K] extends LaterField<Field> ? K : never]: L[K] extends LaterField<infer A>
    ? A extends Field
      ? A
      : never
    : never;
};

/** Declares a field that a release adds. */
export function since<F extends Field>(release: Release, field: F): LaterField<F> {
  return { since: release, field };
}

/** Declares another declaration of a field from a release on. */
export function replacedIn(release: Release, field: Field): LaterField {
  return { since: release, field };
}

/** Declares that a release no longer has a field. */
export function removedIn(release: Release): LaterField<undefined> {
  return { since: release, field: undefined };
}

/** Returns the later fields of a struct whose fields are inlined in another one; see `inlined`. */
export function inlinedLater<L extends Readonly<Record<string, LaterField<Field>>>>(
  number: number,
  later: L,
): L {
  const entries = Object.entries(later).map(
    ([name, one]) => [name, { ...one, field: one.field.inside(number) }] as const,
  );
  return Object.fromEntries(entries) as unknown as L;
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
