import { jsonOf } from "../../base/json/value.ts";
import { mergeFields, type MergeConflict, type MergeStrategy } from "../../fields/merge/merge-fields.ts";
import { fieldDifferences, type FieldDifference } from "../../fields/undo/field-differences.ts";
import { objectAs } from "../../schema/api-object.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { FieldOwners } from "../undo/field-owners.ts";
import type { PlannedWrite } from "../undo/planned-write.ts";
import { isTerminating, newObject, uidOf, withIdentityOf, type UndoKind } from "../undo/undo-object.ts";

/**
 * Why a field or an object can't be merged.
 *
 * - `Changed`: both sides have changed the field to different values, or one has changed what the other has removed.
 * - `Deleted`: the workspace has changed the object, and the target has deleted it; or, with a path, the target has changed the field, and
 *   the workspace has deleted the object.
 * - `Replaced`: the workspace has deleted the object, and the target has another one of its name.
 * - `Terminating`: the target's object exists until its deletion has ended.
 * - `InUse`: the workspace has deleted a namespace or definition, and the target has objects in it that it didn't have.
 * - `NotServed`: the target doesn't serve the kind.
 */
export type BranchConflictReason = "Changed" | "Deleted" | "Replaced" | "Terminating" | "InUse" | "NotServed";

/** A field, or the object, that both sides have changed. */
export interface BranchConflict extends MergeConflict {
  readonly reason: BranchConflictReason;
  /** Names of the field managers that own the field in the workspace; empty if it was removed there. */
  readonly theirManagers: readonly string[];
  /** As {@link theirManagers}, in the target. */
  readonly ourManagers: readonly string[];
  /** How the strategy has resolved it; undefined if it prevents the merge. */
  readonly resolution: MergeStrategy | undefined;
  /** An object of others in a namespace or definition; only for `InUse`. */
  readonly contents?: string | undefined;
}

/** The states of an object. */
export interface ObjectSides {
  /** With which the workspace began. */
  readonly base: ApiObject | undefined;
  /** In the workspace. */
  readonly theirs: ApiObject | undefined;
  /** In the target. */
  readonly ours: ApiObject | undefined;
}

/** What a merge does with an object of the target. */
export interface ObjectMerge extends Pick<PlannedWrite, "action" | "object" | "oldUid"> {
  /** The fields that an update changes. */
  readonly fields: readonly FieldDifference[];
  readonly conflicts: readonly BranchConflict[];
}

/**
 * Merges what a workspace has changed in an object into the object of the target. The objects aren't changed.
 *
 * @param strategy resolves conflicts of the reasons Changed, Deleted, Replaced and InUse.
 */
export function mergeObject(
  sides: ObjectSides,
  kind: UndoKind,
  strategy: MergeStrategy | undefined,
): ObjectMerge {
  const { base, ours } = sides;
  const theirs = sides.theirs && isTerminating(sides.theirs) ? undefined : sides.theirs;
  return new Merger({ base, theirs, ours }, kind, strategy).merge();
}

class Merger {
  private readonly owners: { readonly theirs: FieldOwners; readonly ours: FieldOwners };

  constructor(
    private readonly sides: ObjectSides,
    private readonly kind: UndoKind,
    private readonly strategy: MergeStrategy | undefined,
  ) {
    const { theirs, ours } = sides;
    this.owners = { theirs: new FieldOwners(theirs, kind.shape), ours: new FieldOwners(ours, kind.shape) };
  }

  merge(): ObjectMerge {
    const { base, theirs, ours } = this.sides;
    if (theirs === undefined) return base === undefined ? this.nothing() : this.mergeDeletion(base, ours);
    if (base !== undefined && this.differences(base, theirs).length === 0) return this.nothing();
    if (ours === undefined) {
      if (base === undefined || this.strategy === "theirs") return this.create(theirs, base);
      return this.nothing([this.conflict("Deleted")]);
    }
    if (isTerminating(ours)) {
      return this.differences(ours, theirs).length === 0
        ? this.nothing()
        : this.nothing([{ ...this.conflict("Terminating"), resolution: undefined }]);
    }
    return this.mergeContents(base, theirs, ours);
  }

  private mergeDeletion(base: ApiObject, ours: ApiObject | undefined): ObjectMerge {
    if (ours === undefined || isTerminating(ours)) return this.nothing();
    const conflicts =
      uidOf(ours) === uidOf(base)
        ? this.differences(base, ours).map(({ path, from, to }) =>
            this.conflict("Deleted", { path, base: from, theirs: undefined, ours: to }),
          )
        : [this.conflict("Replaced")];
    if (conflicts.length > 0 && this.strategy !== "theirs") return this.nothing(conflicts);
    return { action: "delete", object: undefined, oldUid: "", fields: [], conflicts };
  }

  private create(theirs: ApiObject, base: ApiObject | undefined): ObjectMerge {
    const conflicts = base === undefined ? [] : [this.conflict("Deleted")];
    return {
      action: "create",
      object: newObject(theirs),
      oldUid: uidOf(theirs) ?? "",
      fields: [],
      conflicts,
    };
  }

  private mergeContents(base: ApiObject | undefined, theirs: ApiObject, ours: ApiObject): ObjectMerge {
    const { shape, ignored } = this.kind;
    const values = { base: base && jsonOf(base), theirs: jsonOf(theirs), ours: jsonOf(ours) };
    const merged = mergeFields(values, shape, ignored, this.strategy);
    const conflicts = merged.conflicts.map((one) => this.conflict("Changed", one));
    const object = objectAs<ApiObject>(merged.value as object);
    const fields = this.differences(ours, object);
    if (fields.length === 0) return this.nothing(conflicts);
    return { action: "update", object: withIdentityOf(ours, object), oldUid: "", fields, conflicts };
  }

  private nothing(conflicts: readonly BranchConflict[] = []): ObjectMerge {
    return { action: "none", object: this.sides.ours, oldUid: "", fields: [], conflicts };
  }

  private differences(from: ApiObject, to: ApiObject): FieldDifference[] {
    return fieldDifferences(jsonOf(from), jsonOf(to), this.kind.shape, this.kind.ignored);
  }

  private conflict(reason: BranchConflictReason, values: MergeConflict = ofObject): BranchConflict {
    const { path } = values;
    return {
      ...values,
      reason,
      theirManagers: this.owners.theirs.of(path),
      ourManagers: this.owners.ours.of(path),
      resolution: this.strategy,
    };
  }
}

/** Values of a conflict about an object; they would be the whole object. */
export const ofObject: MergeConflict = { path: [], base: undefined, theirs: undefined, ours: undefined };
