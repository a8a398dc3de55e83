import { StatusError } from "../../base/status-error.ts";
import type { OwnerReferenceValue } from "../../schema/kind.ts";
import type { Revision } from "../../storage/store.ts";
import { encodeJson } from "../../base/json/encode.ts";
import { jsonOf } from "../../base/json/value.ts";
import type { Engine } from "../engine/engine.ts";
import { namesOf, type Resource } from "../registry/registry.ts";
import { inTransaction } from "../transactions/transaction.ts";
import { findChangeSet, type ChangedObject, type ChangeSelection } from "./change-set.ts";
import { contentsOf } from "./contents.ts";
import { againWhileChanged, executePlans, inOrder } from "./execute-plans.ts";
import type { WriteAccess } from "./planned-write.ts";
import { planUndo, type PlannedUndo } from "./undo-plan.ts";

/** What to undo. */
export interface UndoRequest {
  /** Collections whose history is searched and kept. */
  readonly resources: readonly Resource[];
  readonly selection: ChangeSelection;
  /** Whether nothing is committed. */
  readonly dryRun: boolean;
  /** Resolves when the next step may be done. */
  readonly pause: () => Promise<void>;
}

/** What an undo does with one object. */
export interface UndoneObject extends PlannedUndo {
  /** Owner references that the object doesn't get back. */
  readonly dropped: readonly OwnerReferenceValue[];
}

/** What an undo does. */
export interface UndoOutcome {
  /** All objects of the change set, in the order in which they are written. */
  readonly objects: readonly UndoneObject[];
  /** Undefined if nothing was written. */
  readonly revision: Revision | undefined;
}

/**
 * Takes a change set back in one transaction, with the rights of the user now. If another write has changed the same fields since, nothing
 * is written: the objects in the outcome have the conflicts.
 *
 * @param accessOf returns the access of the user to the objects in an engine.
 * @throws {StatusError} NotFound if the history has no such change; Forbidden if the user may not read one of its objects; Expired if a
 *   state that is needed isn't kept; RequestEntityTooLarge above the limits of a transaction; the errors of the writes.
 */
export async function undoChangeSet(
  engine: Engine,
  request: UndoRequest,
  accessOf: (engine: Engine) => WriteAccess,
): Promise<UndoOutcome> {
  const { resources, selection, pause, dryRun } = request;
  const { writes } = engine.store.transactionLimits;
  const changed = await findChangeSet(engine, resources, selection, writes, pause);
  await checkReadable(changed, selection, accessOf(engine));
  return againWhileChanged(async () => {
    const { value, revision } = await inTransaction(engine, dryRun, (staged) =>
      undoStaged(staged, changed, accessOf(staged), pause),
    );
    return { objects: value, revision };
  });
}

async function checkReadable(
  changed: readonly ChangedObject[],
  { change }: ChangeSelection,
  access: WriteAccess,
): Promise<void> {
  let hidden = 0;
  for (const { resource, key } of changed)
    if (!(await access.mayRead({ resource, ...namesOf(key), subresource: "" }))) hidden++;
  // Who may read none of the objects doesn't learn that there are some.
  if (hidden === changed.length)
    throw new StatusError(
      "NotFound",
      change === undefined
        ? "the history has no such writes of objects that you may read"
        : `change ${JSON.stringify(change)}: the history has no write with this audit id of an object that you may read; ` +
            "only the history of the resources in --history-retention is kept",
    );
  if (hidden > 0)
    throw new StatusError(
      "Forbidden",
      `the change has ${changed.length} objects, of which you may not read ${hidden}; select others with resources and namespace`,
    );
}

async function undoStaged(
  engine: Engine,
  changed: readonly ChangedObject[],
  access: WriteAccess,
  pause: () => Promise<void>,
): Promise<UndoneObject[]> {
  const plans: PlannedUndo[] = [];
  const { bytes: limit } = engine.store.transactionLimits;
  let bytes = 0;
  for (const object of changed) {
    const plan = await planUndo(engine, object);
    plans.push(plan);
    if (plan.action === "create" || plan.action === "update")
      bytes += encodeJson(jsonOf(plan.object!)).length;
    if (bytes > limit)
      throw new StatusError(
        "RequestEntityTooLarge",
        `the objects are larger than ${limit} bytes; undo a part of the change`,
      );
    await pause();
  }
  await addContents(engine, plans);
  if (plans.some(({ conflicts }) => conflicts.length > 0)) return inOrder(plans);
  return executePlans(engine, plans, access, pause);
}

/** Adds the conflicts of namespaces and definitions in which others have created objects. */
async function addContents(engine: Engine, plans: PlannedUndo[]): Promise<void> {
  const deletions = plans.filter(({ action }) => action === "delete");
  const deleted = new Set(deletions.map(({ key }) => key));
  for (const [index, plan] of plans.entries()) {
    const contents = plan.action === "delete" ? await contentsOf(engine, plan, deleted) : undefined;
    if (contents === undefined) continue;
    const values = { path: [], before: undefined, after: undefined, now: undefined, managers: [] };
    plans[index] = { ...plan, conflicts: [...plan.conflicts, { ...values, reason: "InUse", contents }] };
  }
}
