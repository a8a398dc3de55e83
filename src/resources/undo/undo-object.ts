import type { FieldSet } from "../../fields/apply/field-set.ts";
import type { Shape } from "../../fields/apply/shape.ts";
import { fieldDifferences, type FieldDifference } from "../../fields/undo/field-differences.ts";
import type { FieldValue } from "../../fields/undo/field-values.ts";
import { revertFields, type FieldConflict } from "../../fields/undo/revert-fields.ts";
import { jsonOf } from "../../base/json/value.ts";
import { objectAs } from "../../schema/api-object.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { FieldOwners } from "./field-owners.ts";

/** A write of an object: its states before and after. At least one of them is present. */
export interface ObjectStep {
  /** Undefined if the write created the object. */
  readonly before: ApiObject | undefined;
  /** Undefined if the write removed the object. */
  readonly after: ApiObject | undefined;
}

/** What an undo needs of the kind of an object. */
export interface UndoKind {
  readonly shape: Shape;
  /** Fields that the server sets, and the status if it is a subresource: an undo neither changes nor compares them. */
  readonly ignored: FieldSet;
}

/**
 * Why a field or an object can't be undone.
 *
 * - `Changed`: another write has changed the field since.
 * - `Replaced`: the change deleted the object, and there is another one of the same name now.
 * - `Terminating`: the change deleted the object, and it still exists until its finalizers or grace period end.
 * - `InUse`: the change created a namespace or definition, and others have created objects in it since.
 */
export type UndoConflictReason = "Changed" | "Replaced" | "Terminating" | "InUse";

/** A field, or the object, that can't be undone because of another write. */
export interface UndoConflict extends FieldConflict {
  readonly reason: UndoConflictReason;
  /** Names of the field managers that own the field; empty if it was removed. */
  readonly managers: readonly string[];
  /** An object of others in a namespace or definition; only for `InUse`. */
  readonly contents?: string | undefined;
}

/** Why nothing of a step is left to undo, although it isn't a conflict. */
export type UndoNote = "Gone" | "Replaced" | "Terminating";

/** The object without the effect of its steps. */
export interface ObjectUndo {
  /** The action that brings the object into this state. */
  readonly action: "none" | "create" | "update" | "delete";
  /** Undefined if the object must not exist. For a creation without what the server sets. */
  readonly object: ApiObject | undefined;
  /** Uid of the object that is created again; empty for other actions. */
  readonly oldUid: string;
  /** The fields that differ from the current object; empty unless it is updated. */
  readonly fields: readonly FieldDifference[];
  readonly conflicts: readonly UndoConflict[];
  /** Why nothing is left to undo of a step, each once. */
  readonly notes: readonly UndoNote[];
}

/**
 * Takes the writes of a change set back in an object, the newest first, each in the result of the one before. What other writes have
 * changed stays; where both have changed the same field, it is a conflict. The objects aren't changed.
 */
export class ObjectUndoing {
  private object: ApiObject | undefined;
  private readonly conflicts: UndoConflict[] = [];
  private readonly notes = new Set<UndoNote>();
  private readonly owners: FieldOwners;

  /** @param now the current object; undefined if there is none. */
  constructor(
    private readonly now: ApiObject | undefined,
    private readonly kind: UndoKind,
  ) {
    this.object = now;
    this.owners = new FieldOwners(now, kind.shape);
  }

  /** Takes a write back: that of the change set before those that were taken back already. */
  take({ before, after }: ObjectStep): void {
    if (before === undefined) this.undoCreation(after!);
    else if (after === undefined || (isTerminating(after) && !isTerminating(before)))
      this.undoDeletion(before);
    else this.undoUpdate(before, after);
  }

  private undoCreation(created: ApiObject): void {
    const { object } = this;
    if (object === undefined) return this.note("Gone");
    if (uidOf(object) !== uidOf(created)) return this.note("Replaced");
    if (isTerminating(object)) return this.note("Terminating");
    const changed = this.differences(created, object);
    for (const { path, from, to } of changed) this.refuse({ path, before: undefined, after: from, now: to });
    if (changed.length === 0) this.object = undefined;
  }

  private undoDeletion(deleted: ApiObject): void {
    const { object } = this;
    if (object === undefined) this.restore(deleted);
    else if (uidOf(object) === uidOf(deleted)) this.refuseObject(deleted, object, "Terminating");
    else if (this.differences(deleted, object).length > 0) this.refuseObject(deleted, object, "Replaced");
  }

  private undoUpdate(before: ApiObject, after: ApiObject): void {
    const { object, kind } = this;
    if (object === undefined) return this.note("Gone");
    const reversal = revertFields(jsonOf(before), jsonOf(after), jsonOf(object), kind.shape, kind.ignored);
    for (const conflict of reversal.conflicts) this.refuse(conflict);
    this.object = objectAs<ApiObject>(reversal.value as object);
    this.owners.restore(before, this.differences(after, before));
  }

  private restore(object: ApiObject): void {
    const { deletionTimestamp: _, deletionGracePeriodSeconds: __, ...metadata } = object.metadata;
    this.object = { ...object, metadata };
    this.owners.replace(object);
  }

  private differences(from: ApiObject, to: ApiObject): FieldDifference[] {
    return fieldDifferences(jsonOf(from), jsonOf(to), this.kind.shape, this.kind.ignored);
  }

  private note(note: UndoNote): void {
    this.notes.add(note);
  }

  private refuse(conflict: FieldConflict): void {
    this.conflicts.push({ ...conflict, reason: "Changed", managers: this.owners.of(conflict.path) });
  }

  private refuseObject(deleted: ApiObject, object: ApiObject, reason: UndoConflictReason): void {
    const values = { before: jsonOf(deleted) as FieldValue, after: undefined, now: jsonOf(object) };
    this.conflicts.push({ path: [], ...values, reason, managers: this.owners.of([]) });
  }

  /** Returns what brings the object into the state without the writes that were taken back. */
  result(): ObjectUndo {
    const { object, now, conflicts } = this;
    const outcome = { conflicts, notes: [...this.notes], oldUid: "", fields: [] };
    if (object === undefined) return { ...outcome, action: now === undefined ? "none" : "delete", object };
    if (now === undefined)
      return { ...outcome, action: "create", object: newObject(object), oldUid: uidOf(object) ?? "" };
    const fields = this.differences(now, object);
    if (fields.length === 0) return { ...outcome, action: "none", object: now };
    return { ...outcome, action: "update", object: withIdentityOf(now, object), fields };
  }
}

/** Returns the uid of an object. */
export function uidOf({ metadata }: ApiObject): string | undefined {
  return metadata.uid;
}

/** Whether an object is being deleted. */
export function isTerminating({ metadata }: ApiObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Returns an object without what the server sets at its creation. */
export function newObject(object: ApiObject): ApiObject {
  const {
    uid: _uid,
    resourceVersion: _resourceVersion,
    generation: _generation,
    creationTimestamp: _creationTimestamp,
    selfLink: _selfLink,
    managedFields: _managedFields,
    ...metadata
  } = object.metadata;
  return { ...object, metadata };
}

/** Returns the desired object as an update of the current one. The update doesn't change the managed fields by itself. */
export function withIdentityOf(now: ApiObject, object: ApiObject): ApiObject {
  const { uid, resourceVersion, generation, creationTimestamp } = now.metadata;
  const { managedFields: _, ...metadata } = object.metadata;
  const identity = Object.entries({ uid, resourceVersion, generation, creationTimestamp });
  return {
    ...object,
    metadata: { ...metadata, ...Object.fromEntries(identity.filter(([, value]) => value !== undefined)) },
  };
}
