import { FieldSet, fieldElement } from "./field-set.ts";
import type { OwnedFields, Owners } from "./ownership.ts";

/** A field that a view subresource changes: its path in the view and in the object, as member names. */
export interface ViewedField {
  readonly view: readonly string[];
  readonly object: readonly string[];
}

/**
 * Returns the owners of an object for a view of it: only the fields that the view can change, with their paths in the view.
 *
 * @param version version of the view.
 */
export function ownersInView(owners: Owners, fields: readonly ViewedField[], version: string): Owners {
  const inView = new Map<string, OwnedFields>();
  for (const [manager, { set }] of owners) {
    const owned = fields.filter(({ object }) => set.has(elements(object)));
    if (owned.length > 0) inView.set(manager, { version, set: setOfPaths(owned.map(({ view }) => view)) });
  }
  return inView;
}

/**
 * Returns the owners of an object after a write to a view of it. The fields that the view can change get the owners that they
 * have in the view; all other fields keep their owners.
 *
 * @param before owners of the object before the write.
 * @param inView owners of the view after the write.
 * @param version version of the object, for the entries of new owners.
 */
export function ownersAfterViewWrite(
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
    const rest = owned.set.difference(setOfPaths(fields.map(({ object }) => object)));
    const set = rest.union(setOfPaths(ownedInView.map(({ object }) => object)));
    if (!set.isEmpty)
      after.set(manager, { version: owned.version, set: set.equals(owned.set) ? owned.set : set });
  }
  return after;
}

function elements(path: readonly string[]): string[] {
  return path.map(fieldElement);
}

function setOfPaths(paths: readonly (readonly string[])[]): FieldSet {
  return paths.reduce((set, path) => set.union(setOfPath(elements(path))), FieldSet.empty);
}

function setOfPath([first, ...rest]: readonly string[]): FieldSet {
  return first === undefined ? FieldSet.leaf : FieldSet.of(false, new Map([[first, setOfPath(rest)]]));
}
