import { jsonOf } from "../../base/json/value.ts";
import { StatusError } from "../../base/status-error.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Undo } from "../../kinds/history/undo.ts";
import type { Target } from "../../resources/engine/engine.ts";
import { hasOwnRight, historySubresource } from "../../resources/reads/history.ts";
import { undoChangeSet } from "../../resources/undo/undo-change-set.ts";
import { undoSelection } from "../../resources/undo/undo-selection.ts";
import { refuseConflicts, undoStatus } from "../../resources/undo/undo-status.ts";
import { objectAs } from "../../schema/api-object.ts";
import { groupAnnotation } from "../../vocabulary/names.ts";
import { accountOf, type ResourceContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";
import { readPosted, sendPosted, writtenText } from "./posted-object.ts";
import { mayGet, writeAccess } from "./write-access.ts";

/**
 * POST of an Undo: takes a change set back in one transaction. Each write is authorized, admitted and validated as an operation of a
 * Transaction; the user also needs the right to read each object. The audit event has the result without values.
 *
 * @throws {StatusError} Conflict with a cause for each field that others have changed since; the errors of `undoChangeSet`.
 */
export async function serveUndo(service: HttpService, request: ResourceContext): Promise<void> {
  const { exchange } = request;
  const { engine } = service;
  const posted = await readPosted(service, request, jsonOf);
  const { object, parameters, report } = posted;
  const { dryRun, fieldManager } = parameters;
  const undo = objectAs<Undo>(object);
  const chosen = await undoSelection(engine, undo.spec);
  const pause = async (): Promise<void> => {
    if (exchange.expired)
      throw new StatusError("Timeout", "the undo did not end in time; nothing was written");
    await service.turns.longStep(accountOf(request));
  };
  const outcome = await undoChangeSet(engine, { ...chosen, dryRun, pause }, (staged) =>
    writeAccess(service, staged, request, { fieldManager, mayRead: mayReadWithHistory }),
  );
  if (!dryRun) refuseConflicts(outcome);
  const status = undoStatus(outcome, dryRun);
  report.annotate(
    groupAnnotation(engine.vocabulary.groupSuffix, "objects", "history"),
    writtenText(status.objects),
  );
  undo.status = status;
  return sendPosted(service, request, posted);
}

/** Whether the user may get an object, and read its history. */
async function mayReadWithHistory(service: HttpService, user: UserInfo, target: Target): Promise<boolean> {
  if (!(await mayGet(service, user, target))) return false;
  return hasOwnRight(target.resource)
    ? mayGet(service, user, { ...target, subresource: historySubresource })
    : true;
}
