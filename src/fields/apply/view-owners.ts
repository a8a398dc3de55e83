import { FieldSet, fieldElement } from "./field-set.ts";
import type { OwnedFields, Owners } from "./ownership.ts";

/** A field that a view of an object changes: its path in the view and in the object, by names of members. */
export interface ViewedField {
  readonly view: readonly string[];
  readonly object: readonly string[];
}

/**
 * Who owns what of an object, as a view of it shows the object: of every owner only the fields that the view changes, named
 * as they are there.
 *
 * @param version version of the view.
 */
export function ownersInView(owners: Owners, fields: readonly ViewedField[], version: string): Owners {
  const shown = new Map<string, OwnedFields>();
  for (const [manager, { set }] of owners) {
    const owned = fields.filter(({ object }) => set.has(elements(object)));
    if (owned.length > 0) shown.set(manager, { version, set: setOfAll(owned.map(({ view }) => view)) });
  }
  return shown;
}

/**
 * Who owns what of an object after a write through a view of it: who owns one of its fields there owns it here, and nobody
 * else does. What the view doesn't change stays whose it is.
 *
 * @param before the object's owners before the write.
 * @param inView the view's owners after it.
 * @param version version of the object in which fields of new owners are named.
 */
export function ownersThroughView(
  before: Owners,
  inView: Owners,
  fields: readonly ViewedField[],
  version: string,
): Owners {
  const after = new Map<string, OwnedFields>();
  for (const manager of new Set([...before.keys(), ...inView.keys()])) {
    const owned = before.get(manager) ?? { version, set: FieldSet.empty };
    const viewSet = inView.get(manager)?.set ?? FieldSet.empty;
    const ownedInView = fields.filter(({ view }) => viewSet.has(elements(view)));
    const rest = owned.set.difference(setOfAll(fields.map(({ object }) => object)));
    const set = rest.union(setOfAll(ownedInView.map(({ object }) => object)));
    if (!set.isEmpty)
      after.set(manager, { version: owned.version, set: set.equals(owned.set) ? owned.set : set });
  }
  return after;
}

function elements(path: readonly string[]): string[] {
  return path.map(fieldElement);
}

function setOfAll(paths: readonly (readonly string[])[]): FieldSet {
  return paths.reduce((set, path) => set.union(setOf(elements(path))), FieldSet.empty);
}

function setOf([first, ...rest]: readonly string[]): FieldSet {
  return first === undefined ? FieldSet.leaf : FieldSet.of(false, new Map([[first, setOf(rest)]]));
}
