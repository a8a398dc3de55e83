import { encodeJson } from "../../base/json/encode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { StatusError, type Cause } from "../../base/status-error.ts";
import type { FieldDifference } from "../../fields/undo/field-differences.ts";
import type { FieldPath, FieldValue } from "../../fields/undo/field-values.ts";
import type {
  UndoConflict as ConflictStatus,
  UndoneField,
  UndoneObject as ObjectStatus,
  UndoStatus,
} from "../../kinds/history/undo.ts";
import type { OwnerReferenceValue } from "../../schema/kind.ts";
import type { Target } from "../engine/engine.ts";
import { hasOwnRight } from "../reads/history.ts";
import { fieldPath } from "../writes/apply.ts";
import type { UndoneObject, UndoOutcome } from "./undo-change-set.ts";
import type { UndoConflict, UndoNote } from "./undo-object.ts";
import { describe } from "./undo-plan.ts";

/** Maximum number of fields of an object, and of conflicts, in an answer. */
const maxListed = 100;
/** Maximum number of conflicts in an error. */
const maxCauses = 50;
/** Maximum length of a value in an answer, in characters. */
const maxValue = 256;

const noteTexts: Readonly<Record<UndoNote, string>> = {
  Gone: "it was deleted since",
  Replaced: "it was deleted since, and another object of its name was created",
  Terminating: "it is being deleted already",
};

/** A status with the members that every undo has. */
type CompleteStatus = UndoStatus & { message: string; objects: ObjectStatus[] };

/** Returns the status of an undo that was done, or of a dry run. */
export function undoStatus({ objects, revision }: UndoOutcome, dryRun: boolean): CompleteStatus {
  const conflicts = objects.flatMap((object) =>
    object.conflicts.map((one) => conflictStatus(object.target, one)),
  );
  const written = objects.filter(({ action }) => action !== "none").length;
  const listed = conflicts.slice(0, maxListed);
  return {
    message: messageOf(written, conflicts.length, dryRun),
    ...(revision === undefined ? {} : { resourceVersion: String(revision) }),
    objects: objects.map(objectStatus),
    ...(listed.length === 0 ? {} : { conflicts: listed }),
    ...(conflicts.length > maxListed ? { moreConflicts: conflicts.length - maxListed } : {}),
  };
}

function messageOf(written: number, conflicts: number, dryRun: boolean): string {
  if (conflicts > 0)
    return `dry run: the change can't be undone because of ${countOf(conflicts, "conflict")}`;
  if (written === 0) return "nothing is left to undo";
  const objects = countOf(written, "object");
  return dryRun ? `dry run: ${objects} would be written` : `${objects} written`;
}

/** Returns a count with its noun. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function objectStatus({ action, target, fields, notes, dropped }: UndoneObject): ObjectStatus {
  // Answers may be logged.
  const isHidden = hasOwnRight(target.resource);
  const texts = [...notes.map((note) => noteTexts[note]), ...dropped.map(droppedNote)];
  return {
    action,
    ...namesIn(target),
    ...fieldsStatus(fields, isHidden),
    ...(texts.length === 0 ? {} : { notes: texts }),
  };
}

/** Returns the members of a status with changed fields. */
export function fieldsStatus(
  fields: readonly FieldDifference[],
  isHidden: boolean,
): { readonly fields?: UndoneField[]; readonly moreFields?: number } {
  if (fields.length === 0) return {};
  const listed = fields.slice(0, maxListed).map(({ path, from, to }): UndoneField => ({
    path: fieldPath(path),
    ...textOf("from", from, isHidden),
    ...textOf("to", to, isHidden),
  }));
  return { fields: listed, ...(fields.length > maxListed ? { moreFields: fields.length - maxListed } : {}) };
}

/** Returns the note about an owner reference that an object doesn't get. */
export function droppedNote({ kind, name }: OwnerReferenceValue): string {
  return `the owner reference to ${kind} ${JSON.stringify(name)} was dropped: there is no such owner`;
}

function conflictStatus(target: Target, conflict: UndoConflict): ConflictStatus {
  const { path, reason, managers, before, after, now, contents } = conflict;
  const isHidden = hasOwnRight(target.resource);
  return {
    ...namesIn(target),
    ...pathOf(path),
    reason,
    managers: [...managers],
    ...(contents === undefined ? {} : { contents }),
    // The values of an object would be the whole object.
    ...(path.length === 0
      ? {}
      : {
          ...textOf("before", before, isHidden),
          ...textOf("after", after, isHidden),
          ...textOf("now", now, isHidden),
        }),
  };
}

/** Returns the members of a status that name an object. */
export function namesIn({ resource, namespace, name }: Target) {
  const { apiVersion, kind } = resource;
  return { apiVersion, kind: kind.name, ...(namespace === "" ? {} : { namespace }), name };
}

/** Returns the member `path` of a status; none for a whole object. */
export function pathOf(path: FieldPath): { readonly path?: string } {
  return path.length === 0 ? {} : { path: fieldPath(path) };
}

/** Returns a member of a status with a value as bounded JSON; none for an absent value. */
export function textOf<K extends string>(
  member: K,
  value: FieldValue,
  isHidden: boolean,
): { readonly [k in K]?: string } {
  if (value === undefined) return {};
  const text = isHidden ? "(hidden)" : encodeJson(value as JsonValue);
  const bounded = text.length > maxValue ? `${text.slice(0, maxValue - 1)}…` : text;
  return { [member]: bounded } as { readonly [k in K]?: string };
}

/**
 * Checks that an undo has no conflicts.
 *
 * @throws {StatusError} Conflict with a cause for each conflict.
 */
export function refuseConflicts({ objects }: UndoOutcome): void {
  const count = objects.reduce((sum, { conflicts }) => sum + conflicts.length, 0);
  if (count === 0) return;
  const causes: Cause[] = [];
  for (const { target, conflicts } of objects)
    for (const conflict of conflicts.slice(0, maxCauses - causes.length)) {
      const field = conflict.path.length === 0 ? "" : fieldPath(conflict.path);
      causes.push({
        reason: "FieldManagerConflict",
        message: `${describe(target)}: ${textOfConflict(target, conflict)}`,
        field,
      });
    }
  const more = count > causes.length ? `; and ${count - causes.length} more` : "";
  throw new StatusError(
    "Conflict",
    `the change can't be undone because of ${countOf(count, "conflict")}: ${causes.map(({ message }) => message).join("; ")}${more}; nothing was written`,
    { causes },
  );
}

function textOfConflict(
  target: Target,
  { path, reason, managers, before, after, now, contents }: UndoConflict,
): string {
  const by = managers.length === 0 ? "" : ` by ${managers.map((name) => JSON.stringify(name)).join(", ")}`;
  if (reason === "Replaced") return `it was deleted by the change, and created again since${by}`;
  if (reason === "InUse")
    return `it was created by the change, and contains ${contents}, which the change didn't create`;
  if (reason === "Terminating")
    return "it was deleted by the change, and exists until its deletion has ended";
  const isHidden = hasOwnRight(target.resource);
  const show = (value: FieldValue) => textOf("value", value, isHidden).value ?? "absent";
  return `${fieldPath(path)} was changed since${by}: ${show(before)} before the change, ${show(after)} after it, ${show(now)} now`;
}
