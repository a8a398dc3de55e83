import { qualifiedName } from "../../base/object-errors.ts";
import { StatusError, type Cause } from "../../base/status-error.ts";
import type { WorkspaceConflict, WorkspaceObjectChange } from "../../kinds/tenancy/changes.ts";
import type { WorkspaceDiffStatus } from "../../kinds/tenancy/workspace-diff.ts";
import type { WorkspaceMergeStatus } from "../../kinds/tenancy/workspace-merge.ts";
import type { FieldValue } from "../../fields/undo/field-values.ts";
import type { Target } from "../engine/engine.ts";
import { hasOwnRight } from "../reads/history.ts";
import { describe } from "../undo/undo-plan.ts";
import { countOf, droppedNote, fieldsStatus, namesIn, pathOf, textOf } from "../undo/undo-status.ts";
import { fieldPath } from "../writes/apply.ts";
import type { BranchDifference, BranchDifferences } from "./compare-branches.ts";
import type { MergedObject, MergeOutcome } from "./merge-branch.ts";
import type { BranchConflict } from "./merge-object.ts";

/** Maximum number of conflicts in an answer, and in an error. */
const maxListed = 100;
const maxCauses = 50;

/** Returns the status of a comparison. */
export function diffStatus({ objects, moreObjects, hidden }: BranchDifferences): WorkspaceDiffStatus {
  const count = objects.length + moreObjects;
  return {
    message: `${count === 0 ? "no object differs" : `${countOf(count, "object")} ${count === 1 ? "differs" : "differ"}`}${hiddenText(hidden)}`,
    objects: objects.map(differenceStatus),
    ...(moreObjects === 0 ? {} : { moreObjects }),
    ...(hidden === 0 ? {} : { hidden }),
  };
}

export function hiddenText(hidden: number): string {
  return hidden === 0 ? "" : `; ${countOf(hidden, "object")} that you may not read left out`;
}

export function differenceStatus({
  action,
  target,
  fields,
  moreFields,
  notes = [],
}: BranchDifference): WorkspaceObjectChange {
  const isHidden = hasOwnRight(target.resource);
  return {
    ...namesIn(target),
    action,
    ...(fields.length === 0
      ? {}
      : {
          fields: fields.map(({ path, from, to, managers, changedIn }) => ({
            path: fieldPath(path),
            ...textOf("from", from, isHidden),
            ...textOf("to", to, isHidden),
            ...(managers.length === 0 ? {} : { managers: [...managers] }),
            ...(changedIn === undefined ? {} : { changedIn }),
          })),
        }),
    ...(moreFields === 0 ? {} : { moreFields }),
    ...(notes.length === 0 ? {} : { notes: [...notes] }),
  };
}

/** Returns the conflicts that prevent a merge. */
function unresolved({ objects }: Pick<MergeOutcome, "objects">): number {
  const all = objects.flatMap(({ conflicts }) => conflicts);
  return all.filter(({ resolution }) => resolution === undefined).length;
}

/**
 * Returns the status of a merge or rebase that was done, or of a dry run.
 *
 * @param noun of the work, such as `merge`.
 */
export function mergeStatusOf(outcome: MergeOutcome, noun: string, dryRun: boolean): WorkspaceMergeStatus {
  const { objects, revision, hidden } = outcome;
  const conflicts = objects.flatMap(({ target, conflicts: all }) =>
    all.map((one) => conflictStatus(target, one)),
  );
  const written = objects.filter(({ action }) => action !== "none").length;
  const refused = unresolved(outcome);
  return {
    message: `${messageOf(noun, written, refused, dryRun)}${hiddenText(hidden)}`,
    ...(revision === undefined ? {} : { resourceVersion: String(revision) }),
    objects: objects.map(objectStatus),
    ...(conflicts.length === 0 ? {} : { conflicts: conflicts.slice(0, maxListed) }),
    ...(conflicts.length > maxListed ? { moreConflicts: conflicts.length - maxListed } : {}),
    ...(hidden === 0 ? {} : { hidden }),
  };
}

function messageOf(noun: string, written: number, refused: number, dryRun: boolean): string {
  if (refused > 0) return `dry run: the ${noun} isn't possible because of ${countOf(refused, "conflict")}`;
  if (written === 0) return `nothing is left to ${noun}`;
  const objects = countOf(written, "object");
  return dryRun ? `dry run: ${objects} would be written` : `${objects} written`;
}

function objectStatus({ action, target, fields, dropped }: MergedObject): WorkspaceObjectChange {
  return {
    ...namesIn(target),
    action,
    ...fieldsStatus(fields, hasOwnRight(target.resource)),
    ...(dropped.length === 0 ? {} : { notes: dropped.map(droppedNote) }),
  };
}

function conflictStatus(target: Target, conflict: BranchConflict): WorkspaceConflict {
  const { path, reason, base, theirs, ours, theirManagers, ourManagers, resolution, contents } = conflict;
  const isHidden = hasOwnRight(target.resource);
  return {
    ...namesIn(target),
    ...pathOf(path),
    reason,
    ...textOf("base", base, isHidden),
    ...textOf("theirs", theirs, isHidden),
    ...textOf("ours", ours, isHidden),
    ...(theirManagers.length === 0 ? {} : { theirManagers: [...theirManagers] }),
    ...(ourManagers.length === 0 ? {} : { ourManagers: [...ourManagers] }),
    ...(resolution === undefined ? {} : { resolution }),
    ...(contents === undefined ? {} : { contents }),
  };
}

/** The sides of a merge in messages. */
export interface SideNames {
  /** Such as `the merge`. */
  readonly work: string;
  /** The side whose changes are merged, such as `the workspace`. */
  readonly theirs: string;
  /** The side that is written. */
  readonly ours: string;
}

/**
 * Checks that the strategy has resolved all conflicts.
 *
 * @throws {StatusError} Conflict with a cause for each other one.
 */
export function refuseMergeConflicts(outcome: MergeOutcome, names: SideNames): void {
  const count = unresolved(outcome);
  if (count === 0) return;
  const causes: Cause[] = [];
  for (const { target, conflicts } of outcome.objects)
    for (const conflict of conflicts) {
      if (conflict.resolution !== undefined || causes.length >= maxCauses) continue;
      causes.push({
        reason: "FieldManagerConflict",
        message: `${describe(target)}: ${textOfConflict(target, conflict, names)}`,
        field: conflict.path.length === 0 ? "" : fieldPath(conflict.path),
      });
    }
  const more = count > causes.length ? `; and ${count - causes.length} more` : "";
  throw new StatusError(
    "Conflict",
    `${names.work} isn't possible because of ${countOf(count, "conflict")}: ${causes.map(({ message }) => message).join("; ")}${more}; nothing was written`,
    { causes },
  );
}

function textOfConflict(target: Target, conflict: BranchConflict, { theirs, ours }: SideNames): string {
  const { path, reason, contents } = conflict;
  const isHidden = hasOwnRight(target.resource);
  const show = (value: FieldValue) => textOf("value", value, isHidden).value ?? "absent";
  switch (reason) {
    case "Deleted":
      if (path.length > 0)
        return `${theirs} has deleted it, and ${ours} has changed ${fieldPath(path)} from ${show(conflict.base)} to ${show(conflict.ours)}${byManagers(conflict.ourManagers)}`;
      return `${theirs} has changed it${byManagers(conflict.theirManagers)}, and ${ours} has deleted it`;
    case "Replaced":
      return `${theirs} has deleted it, and ${ours} has another one of its name${byManagers(conflict.ourManagers)}`;
    case "Terminating":
      return `${ours} is deleting it, and it exists until its deletion has ended`;
    case "InUse":
      return `${theirs} has deleted it, and in ${ours} it contains ${contents}`;
    case "NotServed":
      return `${ours} doesn't serve ${qualifiedName(target.resource.name, target.resource.group)}`;
    case "Changed":
  }
  const { base, theirManagers, ourManagers } = conflict;
  const values = [
    `${show(base)} at the start`,
    `${show(conflict.theirs)} in ${theirs}${byManagers(theirManagers)}`,
    `${show(conflict.ours)} in ${ours}${byManagers(ourManagers)}`,
  ];
  return `${fieldPath(path)} was changed on both sides: ${values.join(", ")}`;
}

function byManagers(managers: readonly string[]): string {
  return managers.length === 0 ? "" : ` by ${managers.map((name) => JSON.stringify(name)).join(", ")}`;
}
