import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { doSteps, waitFor, type Steps } from "../../base/turns/work-pace.ts";
import { compareTyped, type Comparison } from "./compare.ts";
import { FieldSet, fieldElement } from "./field-set.ts";
import { textOfFields } from "./fields-text.ts";
import { mergeTyped } from "./merge-typed.ts";
import { reconcileOwners, StoredFields, type OwnedFields, type Owners } from "./owned-fields.ts";
import { readSet } from "./read-set.ts";
import { removeFields, withAncestors, withAncestorsAndKeys, withDeclaredAncestors } from "./remove.ts";
import type { Shape } from "./shape.ts";

export type { OwnedFields, Owners } from "./owned-fields.ts";

/** The API versions of an object. */
export interface Versions {
  /** Returns the shape of the object in a version; undefined for an unknown version, whose owners are dropped. */
  shape(version: string): Shape | undefined;
  /** Converts objects to another version; returns them in the same order and doesn't change the input. */
  convert(objects: readonly unknown[], from: string, to: string): MaybePromise<readonly unknown[]>;
  /** Returns the object as it would be stored, without omitted values such as zeros (`omitempty`). Doesn't change the input. */
  canonical(object: unknown, version: string): unknown;
}

/** The owners after a write. */
export interface OwnershipUpdate {
  readonly owners: Owners;
  /** Whether the write set a field (an apply: set or removed one), including fields that the writer owned before. */
  readonly wrote: boolean;
}

/** The object and its owners after an apply. */
export interface Outcome extends OwnershipUpdate {
  readonly object: unknown;
}

/** An apply without `force` would change fields of other managers. */
export class ApplyConflict extends Error {
  override name = "ApplyConflict";
  constructor(
    /** The conflicting fields of each manager. */
    readonly fields: Owners,
  ) {
    super("other managers own fields that would change");
  }
}

/** The parameters of a write that determine ownership. */
export interface Write {
  readonly manager: string;
  /** Version of the written object. */
  readonly version: string;
  /** Fields that never have an owner, such as those set by the server. Their paths are the same in all versions. */
  readonly ignored?: FieldSet;
}

/**
 * Applies the configuration of a manager to the live object (spec: conventions 4.10): merges it, removes fields that the manager
 * applied before and no longer applies unless another manager owns them, and updates ownership. A different order of list items
 * alone changes nothing.
 *
 * Laws: applying the same configuration again changes nothing; fields of other managers are never removed; the conflicts are
 * exactly the fields of other managers whose values would change.
 *
 * @param live the live object; `{}` for a new one.
 * @param applied the applied configuration.
 * @param force takes over fields of other managers instead of a conflict.
 * @throws {ApplyConflict} unless `force`, if other managers own fields that would change.
 * @throws {PartsFault} if `applied` has list items without keys or with equal keys.
 */
export function applyFields(
  live: unknown,
  applied: unknown,
  owners: Owners,
  versions: Versions,
  write: Write & { readonly force: boolean },
): Outcome {
  return doSteps(applySteps(live, applied, owners, versions, write));
}

/** As {@link applyFields}, in several steps. */
export function* applySteps(
  live: unknown,
  applied: unknown,
  owners: Owners,
  versions: Versions,
  write: Write & { readonly force: boolean },
): Steps<Outcome> {
  const { manager, version, force } = write;
  const shape = shapeIn(versions, version);
  const current = reconcileOwners(owners, (one) => versions.shape(one));
  const before = current.get(manager);
  const own = appliedFields(applied, shape, before, write);
  yield;
  const next = new Map(current).set(manager, own);
  const merged = mergeTyped(live, applied, shape);
  const releasesFields =
    before !== undefined &&
    own !== before &&
    (before.version !== version || !before.set.difference(own.set).isEmpty);
  yield;
  const object = releasesFields
    ? yield* prune(merged, version, before, new Map(next).set(manager, withObjectName(own)), versions)
    : merged;
  const persisted = () => withAncestors(readSet(versions.canonical(object, version), shape, "lenient"));
  const changes = new WrittenFieldsByVersion(live, object, write, versions, persisted);
  const { remaining, conflicts } = yield* releaseFields(next, changes);
  if (conflicts.size > 0 && !force) throw new ApplyConflict(conflicts);
  const { any, isReorder } = (yield* changes.in(version))!;
  const wrote = !any.isEmpty;
  const same = own === before || (before?.version === version && before.set.equals(own.set));
  return {
    object: isReorder ? live : object,
    owners: same && !wrote ? owners : reconciledOwners(remaining, own),
    wrote,
  };
}

/** Returns the fields of the applied configuration; the manager's stored fields, without decoding them, if they are unchanged. */
function appliedFields(
  applied: unknown,
  shape: Shape,
  before: OwnedFields | undefined,
  { version, ignored = FieldSet.empty }: Write,
): OwnedFields {
  const isUnchanged =
    before instanceof StoredFields &&
    before.version === version &&
    before.text === textOfFields(applied, shape, ignored, "strict");
  if (isUnchanged) return before;
  return { version, set: readSet(applied, shape, "strict").recursiveDifference(ignored) };
}

/**
 * Updates ownership after a create, update or patch: the manager becomes the only owner of the fields that it changed.
 *
 * @param live the object before the write; `{}` for a new one.
 */
export function updateFields(
  live: unknown,
  written: unknown,
  owners: Owners,
  versions: Versions,
  write: Write,
): OwnershipUpdate {
  return doSteps(updateSteps(live, written, owners, versions, write));
}

/** As {@link updateFields}, in several steps. */
export function* updateSteps(
  live: unknown,
  written: unknown,
  owners: Owners,
  versions: Versions,
  write: Write,
): Steps<OwnershipUpdate> {
  const { manager, version, ignored = FieldSet.empty } = write;
  const changes = new WrittenFieldsByVersion(live, written, write, versions);
  const { added, modified, removed } = (yield* changes.in(version))!;
  if (added.isEmpty && modified.isEmpty && removed.isEmpty) return { owners, wrote: false };
  const current = reconcileOwners(owners, (one) => versions.shape(one));
  const next = new Map((yield* releaseFields(current, changes)).remaining);
  const before = current.get(manager);
  const previousSet = before?.version === version ? before.set : FieldSet.empty;
  yield;
  const set = previousSet.union(added).union(modified).difference(removed).recursiveDifference(ignored);
  if (set.isEmpty) next.delete(manager);
  else if (before === undefined || set !== before.set) next.set(manager, { version, set });
  else next.set(manager, before);
  return { owners: next, wrote: !(added.isEmpty && modified.isEmpty) };
}

/** Replaces stored sets that don't fit the current shapes by their reconciled sets. */
function reconciledOwners(owners: Owners, own: OwnedFields): Owners {
  const result = new Map<string, OwnedFields>();
  for (const [manager, owned] of owners) {
    // The fields that were just applied fit.
    const reconciled = owned instanceof StoredFields && owned !== own ? owned.reconciled : owned;
    if (reconciled === own || !reconciled.set.isEmpty) result.set(manager, reconciled);
  }
  return result;
}

/** The fields that a write changes, with their paths in one version. */
interface WrittenFields extends Comparison {
  /** The added and modified fields. */
  readonly written: FieldSet;
  /** All changed fields: added, modified and removed. */
  readonly any: FieldSet;
  /** Whether all fields and values are equal, also the ignored ones: at most the order of list items differs. */
  readonly isReorder: boolean;
}

/** The fields that a write changes, computed at most once for each version. */
class WrittenFieldsByVersion {
  readonly manager: string;
  private readonly byVersion = new Map<string, WrittenFields | undefined>();

  constructor(
    private readonly before: unknown,
    private readonly after: unknown,
    private readonly write: Write,
    private readonly versions: Versions,
    /** Returns the fields of the new object that are stored. Adding a field that isn't stored, such as a zero, is no change. */
    private readonly persisted?: () => FieldSet,
  ) {
    this.manager = write.manager;
  }

  /** Returns the changed fields in a version; undefined for an unknown version. */
  *in(version: string): Steps<WrittenFields | undefined> {
    if (!this.byVersion.has(version)) this.byVersion.set(version, yield* this.compare(version));
    return this.byVersion.get(version);
  }

  private *compare(version: string): Steps<WrittenFields | undefined> {
    const shape = this.versions.shape(version);
    if (shape === undefined) return undefined;
    const [before, after] = yield* this.bothIn(version);
    const comparison = compareTyped(before, after, shape);
    const { ignored = FieldSet.empty } = this.write;
    const { removed } = comparison;
    yield;
    const isOwnVersion = version === this.write.version;
    const persisted = isOwnVersion && !comparison.added.isEmpty ? this.persisted?.() : undefined;
    yield;
    const stored = persisted === undefined ? comparison.added : comparison.added.intersection(persisted);
    yield;
    const added = stored.recursiveDifference(ignored);
    const modified = comparison.modified.recursiveDifference(ignored);
    const written = added.union(modified);
    const isReorder = stored.isEmpty && comparison.modified.isEmpty && removed.isEmpty;
    return { added, modified, removed, written, any: written.union(removed), isReorder };
  }

  /** Returns the object before and after the write, converted to a version. */
  private *bothIn(version: string): Steps<readonly unknown[]> {
    const both = [this.before, this.after];
    const own = this.write.version;
    return version === own ? both : yield* waitFor(this.versions.convert(both, own, version));
  }
}

/**
 * Removes the fields that a write changes from the sets of all other managers. Drops owners of unknown versions.
 *
 * @returns the remaining owners, and for each other manager the fields that it owned and the write sets.
 */
function* releaseFields(
  owners: Owners,
  changes: WrittenFieldsByVersion,
): Steps<{ readonly remaining: Owners; readonly conflicts: Owners }> {
  const remaining = new Map<string, OwnedFields>();
  const conflicts = new Map<string, OwnedFields>();
  for (const [manager, owned] of owners) {
    const { version } = owned;
    const change = yield* changes.in(version);
    if (change === undefined) continue;
    const untouched = owned instanceof StoredFields && !owned.mayHaveAny(change.any);
    if (manager === changes.manager || untouched) {
      if (owned instanceof StoredFields || !owned.set.isEmpty) remaining.set(manager, owned);
      continue;
    }
    yield;
    const { set } = owned;
    const overwritten = set.intersection(change.written);
    if (!overwritten.isEmpty) conflicts.set(manager, { version, set: overwritten });
    const rest = set.difference(overwritten).difference(change.removed);
    if (!rest.isEmpty) remaining.set(manager, rest === set ? owned : { version, set: rest });
  }
  return { remaining, conflicts };
}

const nameOnly = FieldSet.of(
  false,
  new Map([[fieldElement("metadata"), FieldSet.of(false, new Map([[fieldElement("name"), FieldSet.leaf]]))]]),
);

/** Adds `metadata.name`, so that pruning never removes the metadata. */
function withObjectName({ version, set }: OwnedFields): OwnedFields {
  return { version, set: set.union(nameOnly) };
}

/** Removes the fields that a manager applied before and that no manager owns now. */
function* prune(
  merged: unknown,
  version: string,
  before: OwnedFields,
  owners: Owners,
  versions: Versions,
): Steps<unknown> {
  const editor = new VersionEditor(merged, version, versions);
  if (versions.shape(before.version) === undefined) return merged;
  let pruned = yield* editor.change(merged, before.version, (_whole, rest, shape) =>
    removeFields(rest, withDeclaredAncestors(before.set, shape), shape),
  );
  const setByVersion = setsByVersion(owners);
  // Restores removed fields that have an owner, in each version with owners: they were removed with their list item or object.
  for (const [ownedVersion, set] of setByVersion) {
    if (versions.shape(ownedVersion) === undefined) continue;
    pruned = yield* editor.change(pruned, ownedVersion, (whole, rest, shape) =>
      removeFields(
        whole,
        removedFields(whole, rest, shape).difference(withAncestorsAndKeys(set, shape)),
        shape,
        set,
      ),
    );
  }
  // Restores removed fields that the manager didn't own before.
  const owned = setByVersion.get(before.version);
  return yield* editor.change(pruned, before.version, (whole, rest, shape) =>
    removeFields(
      whole,
      removedFields(whole, rest, shape).intersection(withAncestorsAndKeys(before.set, shape)),
      shape,
      owned,
    ),
  );
}

/** Returns the fields of the whole object that its rest no longer has, with the paths of the objects and lists. */
function removedFields(whole: unknown, rest: unknown, shape: Shape): FieldSet {
  const allPaths = (value: unknown) => withAncestorsAndKeys(readSet(value, shape, "lenient"), shape);
  return allPaths(whole).difference(allPaths(rest));
}

/** Returns the union of all owned sets of each version. */
function setsByVersion(owners: Owners): Map<string, FieldSet> {
  const sets = new Map<string, FieldSet[]>();
  for (const { version, set } of owners.values()) {
    const existing = sets.get(version);
    if (existing === undefined) sets.set(version, [set]);
    else existing.push(set);
  }
  return new Map([...sets].map(([version, each]) => [version, FieldSet.unionOf(each)]));
}

/** Changes an object in another of its versions. */
class VersionEditor {
  constructor(
    private readonly whole: unknown,
    private readonly version: string,
    private readonly versions: Versions,
  ) {}

  /**
   * Converts the whole object and its rest to a version, changes them and converts the result back.
   *
   * @param rest the object after earlier removals, in the version of the whole object.
   * @returns the result of `change`, in the version of the whole object.
   */
  *change(
    rest: unknown,
    version: string,
    change: (whole: unknown, rest: unknown, shape: Shape) => unknown,
  ): Steps<unknown> {
    const { versions } = this;
    const shape = shapeIn(versions, version);
    if (version === this.version) return change(this.whole, rest, shape);
    const [whole, converted] = yield* waitFor(versions.convert([this.whole, rest], this.version, version));
    const changed = change(whole, converted, shape);
    const [result] = yield* waitFor(versions.convert([changed], version, this.version));
    return result;
  }
}

function shapeIn(versions: Versions, version: string): Shape {
  const shape = versions.shape(version);
  if (shape === undefined) throw new Error(`unknown version ${version}`);
  return shape;
}
