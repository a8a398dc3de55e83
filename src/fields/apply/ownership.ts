import type { MaybePromise } from "../../base/maybe-promise.ts";
import { doSteps, waitFor, type Steps } from "../../base/steps.ts";
import { compareTyped, type Comparison } from "./compare.ts";
import { FieldSet, fieldElement } from "./field-set.ts";
import { textOfFields } from "./fields-text.ts";
import { mergeTyped } from "./merge-typed.ts";
import { ownersAsDeclared, StoredFields, type OwnedFields, type Owners } from "./owned-fields.ts";
import { readSet } from "./read-set.ts";
import { removeFields, withHolders, withNamedHolders, withPlaces } from "./remove.ts";
import type { Shape } from "./shape.ts";

export type { OwnedFields, Owners } from "./owned-fields.ts";

/** The versions in which an object can be seen. */
export interface Versions {
  /** The shape of the object in a version; undefined for a version that there is not, whose owners are forgotten. */
  shape(version: string): Shape | undefined;
  /** Converts objects to another version, in their order. They aren't changed. */
  convert(objects: readonly unknown[], from: string, to: string): MaybePromise<readonly unknown[]>;
  /** The object as it is stored, without what isn't, such as zeros of fields that are zero when absent. It isn't changed. */
  canonical(object: unknown, version: string): unknown;
}

/** Who owns what after a write, and whether the write set or removed anything. */
export interface Recorded {
  readonly owners: Owners;
  readonly wrote: boolean;
}

/** What an object becomes, and who owns what of it then. */
export interface Outcome extends Recorded {
  readonly object: unknown;
}

/** Others own fields that would be changed. */
export class ApplyConflict extends Error {
  override name = "ApplyConflict";
  constructor(
    /** By manager, the fields that are contested. */
    readonly fields: Owners,
  ) {
    super("others own fields that would be changed");
  }
}

/** One write, as far as ownership is concerned. */
export interface Write {
  readonly manager: string;
  /** Version in which the objects of the write are. */
  readonly version: string;
  /** Fields without an owner, such as those that the server sets; they have the same names in every version. */
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
 * @param wanted the applied configuration.
 * @param force takes over fields of other managers instead of a conflict.
 * @throws {ApplyConflict} unless `force`, if other managers own fields that would change.
 * @throws {PartsFault} if `wanted` has list items without keys or with equal keys.
 */
export function applyFields(
  live: unknown,
  wanted: unknown,
  owners: Owners,
  versions: Versions,
  write: Write & { readonly force: boolean },
): Outcome {
  return doSteps(applySteps(live, wanted, owners, versions, write));
}

/** As {@link applyFields}, in several steps. */
export function* applySteps(
  live: unknown,
  wanted: unknown,
  owners: Owners,
  versions: Versions,
  write: Write & { readonly force: boolean },
): Steps<Outcome> {
  const { manager, version, force } = write;
  const shape = shapeIn(versions, version);
  const current = ownersAsDeclared(owners, (one) => versions.shape(one));
  const before = current.get(manager);
  const own = wantedFields(wanted, shape, before, write);
  yield;
  const next = new Map(current).set(manager, own);
  const merged = mergeTyped(live, wanted, shape);
  const gaveUp =
    before !== undefined &&
    own !== before &&
    (before.version !== version || !before.set.difference(own.set).isEmpty);
  yield;
  const object = gaveUp
    ? yield* prune(merged, version, before, new Map(next).set(manager, withName(own)), versions)
    : merged;
  const lasting = () => withPlaces(readSet(versions.canonical(object, version), shape, "lenient"));
  const changes = new WrittenFieldsByVersion(live, object, write, versions, lasting);
  const { kept, contested } = yield* without(next, changes);
  if (contested.size > 0 && !force) throw new ApplyConflict(contested);
  const { any, isReorder } = (yield* changes.in(version))!;
  const wrote = !any.isEmpty;
  const same = own === before || (before?.version === version && before.set.equals(own.set));
  return {
    object: isReorder ? live : object,
    owners: same && !wrote ? owners : fitted(kept, own),
    wrote,
  };
}

/** The fields of what is applied; the manager's own, unread, where they are the same as the last time. */
function wantedFields(
  wanted: unknown,
  shape: Shape,
  before: OwnedFields | undefined,
  { version, ignored = FieldSet.empty }: Write,
): OwnedFields {
  const again =
    before instanceof StoredFields &&
    before.version === version &&
    before.text === textOfFields(wanted, shape, ignored, "strict");
  if (again) return before;
  return { version, set: readSet(wanted, shape, "strict").recursiveDifference(ignored) };
}

/**
 * Records that a manager wrote an object as a whole: it becomes the only owner of what it changed.
 *
 * @param live the object before the write; `{}` for a new one.
 */
export function updateFields(
  live: unknown,
  written: unknown,
  owners: Owners,
  versions: Versions,
  write: Write,
): Recorded {
  return doSteps(updateSteps(live, written, owners, versions, write));
}

/** As {@link updateFields}, in several steps. */
export function* updateSteps(
  live: unknown,
  written: unknown,
  owners: Owners,
  versions: Versions,
  write: Write,
): Steps<Recorded> {
  const { manager, version, ignored = FieldSet.empty } = write;
  const changes = new WrittenFieldsByVersion(live, written, write, versions);
  const { added, modified, removed } = (yield* changes.in(version))!;
  if (added.isEmpty && modified.isEmpty && removed.isEmpty) return { owners, wrote: false };
  const known = ownersAsDeclared(owners, (one) => versions.shape(one));
  const next = new Map((yield* without(known, changes)).kept);
  const before = known.get(manager);
  const previousSet = before?.version === version ? before.set : FieldSet.empty;
  yield;
  const set = previousSet.union(added).union(modified).difference(removed).recursiveDifference(ignored);
  if (set.isEmpty) next.delete(manager);
  else if (before === undefined || set !== before.set) next.set(manager, { version, set });
  else next.set(manager, before);
  return { owners: next, wrote: !(added.isEmpty && modified.isEmpty) };
}

/** Owners as an apply leaves them: what was recorded under another declaration is recorded under that of now. */
function fitted(owners: Owners, own: OwnedFields): Owners {
  const result = new Map<string, OwnedFields>();
  for (const [manager, owned] of owners) {
    // What was just applied fits.
    const now = owned instanceof StoredFields && owned !== own ? owned.fitted : owned;
    if (now === own || !now.set.isEmpty) result.set(manager, now);
  }
  return result;
}

/** What a write changes, as seen in one version. */
interface WrittenFields extends Comparison {
  /** What it adds and what it modifies. */
  readonly written: FieldSet;
  /** All of it. */
  readonly any: FieldSet;
  /** Whether both have the same fields and values, ignored ones too: at most the order of list items differs. */
  readonly isReorder: boolean;
}

/** What a write changes, as seen in each version; found out once a version. */
class WrittenFieldsByVersion {
  readonly manager: string;
  private readonly known = new Map<string, WrittenFields | undefined>();

  constructor(
    private readonly before: unknown,
    private readonly after: unknown,
    private readonly write: Write,
    private readonly versions: Versions,
    /** What stays of the object that was applied: a value that isn't stored changes nothing where there was none. */
    private readonly lasting?: () => FieldSet,
  ) {
    this.manager = write.manager;
  }

  /** Undefined for a version that there is not. */
  *in(version: string): Steps<WrittenFields | undefined> {
    if (!this.known.has(version)) this.known.set(version, yield* this.compare(version));
    return this.known.get(version);
  }

  private *compare(version: string): Steps<WrittenFields | undefined> {
    const shape = this.versions.shape(version);
    if (shape === undefined) return undefined;
    const [before, after] = yield* this.bothIn(version);
    const comparison = compareTyped(before, after, shape);
    const { ignored = FieldSet.empty } = this.write;
    const { removed } = comparison;
    yield;
    const lasts = version === this.write.version && !comparison.added.isEmpty ? this.lasting?.() : undefined;
    yield;
    const lasting = lasts === undefined ? comparison.added : comparison.added.intersection(lasts);
    yield;
    const added = lasting.recursiveDifference(ignored);
    const modified = comparison.modified.recursiveDifference(ignored);
    const written = added.union(modified);
    const isReorder = lasting.isEmpty && comparison.modified.isEmpty && removed.isEmpty;
    return { added, modified, removed, written, any: written.union(removed), isReorder };
  }

  /** The object before and after the write, in a version. */
  private *bothIn(version: string): Steps<readonly unknown[]> {
    const both = [this.before, this.after];
    const own = this.write.version;
    return version === own ? both : yield* waitFor(this.versions.convert(both, own, version));
  }
}

/** Takes from the others what a write changes. */
function* without(
  owners: Owners,
  changes: WrittenFieldsByVersion,
): Steps<{ readonly kept: Owners; readonly contested: Owners }> {
  const remaining = new Map<string, OwnedFields>();
  const contested = new Map<string, OwnedFields>();
  for (const [manager, owned] of owners) {
    const { version } = owned;
    const change = yield* changes.in(version);
    if (change === undefined) continue;
    const untouched = owned instanceof StoredFields && !owned.mayHold(change.any);
    if (manager === changes.manager || untouched) {
      if (owned instanceof StoredFields || !owned.set.isEmpty) remaining.set(manager, owned);
      continue;
    }
    yield;
    const { set } = owned;
    const lost = set.intersection(change.written);
    if (!lost.isEmpty) contested.set(manager, { version, set: lost });
    const rest = set.difference(lost).difference(change.removed);
    if (!rest.isEmpty) remaining.set(manager, rest === set ? owned : { version, set: rest });
  }
  return { kept: remaining, contested };
}

const nameOnly = FieldSet.of(
  false,
  new Map([[fieldElement("metadata"), FieldSet.of(false, new Map([[fieldElement("name"), FieldSet.leaf]]))]]),
);

/** What a manager applies names its object, so that the metadata stays even where it says nothing else of it. */
function withName({ version, set }: OwnedFields): OwnedFields {
  return { version, set: set.union(nameOnly) };
}

/** Removes what a manager applied before and no manager owns now. */
function* prune(
  merged: unknown,
  version: string,
  before: OwnedFields,
  owners: Owners,
  versions: Versions,
): Steps<unknown> {
  const view = new Views(merged, version, versions);
  if (versions.shape(before.version) === undefined) return merged;
  let pruned = yield* view.change(merged, before.version, (_whole, part, shape) =>
    removeFields(part, withNamedHolders(before.set, shape), shape),
  );
  // Whatever went with a list item or an object and is owned comes back, in whichever version it is owned.
  for (const [owned, set] of byVersion(owners)) {
    if (versions.shape(owned) === undefined) continue;
    pruned = yield* view.change(pruned, owned, (whole, part, shape) =>
      removeFields(whole, gone(whole, part, shape).difference(withHolders(set, shape)), shape, set),
    );
  }
  // So does what was never the manager's to remove.
  const owned = byVersion(owners).get(before.version);
  return yield* view.change(pruned, before.version, (whole, part, shape) =>
    removeFields(whole, gone(whole, part, shape).intersection(withHolders(before.set, shape)), shape, owned),
  );
}

/** What is in a whole object and not in what is left of it, with the objects that hold it. */
function gone(whole: unknown, part: unknown, shape: Shape): FieldSet {
  const holders = (value: unknown) => withHolders(readSet(value, shape, "lenient"), shape);
  return holders(whole).difference(holders(part));
}

function byVersion(owners: Owners): Map<string, FieldSet> {
  const sets = new Map<string, FieldSet[]>();
  for (const { version, set } of owners.values()) {
    const existing = sets.get(version);
    if (existing === undefined) sets.set(version, [set]);
    else existing.push(set);
  }
  return new Map([...sets].map(([version, each]) => [version, FieldSet.unionOf(each)]));
}

/** Changes parts of an object in other versions of it. */
class Views {
  constructor(
    private readonly whole: unknown,
    private readonly version: string,
    private readonly versions: Versions,
  ) {}

  /**
   * Changes a part of the object in another version.
   *
   * @param part the rest of the object after earlier changes, in the object's own version, as the result is.
   */
  *change(
    part: unknown,
    version: string,
    change: (whole: unknown, part: unknown, shape: Shape) => unknown,
  ): Steps<unknown> {
    const { versions } = this;
    const shape = shapeIn(versions, version);
    if (version === this.version) return change(this.whole, part, shape);
    const [whole, rest] = yield* waitFor(versions.convert([this.whole, part], this.version, version));
    const changed = change(whole, rest, shape);
    const [result] = yield* waitFor(versions.convert([changed], version, this.version));
    return result;
  }
}

function shapeIn(versions: Versions, version: string): Shape {
  const shape = versions.shape(version);
  if (shape === undefined) throw new Error(`there is no version ${version}`);
  return shape;
}
