import { jsonOf } from "../../base/json/value.ts";
import { StatusError } from "../../base/status-error.ts";
import type { WorkspaceMerge, WorkspaceMergeSpec } from "../../kinds/tenancy/workspace-merge.ts";
import { mergeStatusOf, refuseMergeConflicts } from "../../resources/branches/branch-status.ts";
import { mergeBranch } from "../../resources/branches/merge-branch.ts";
import { objectAs } from "../../schema/api-object.ts";
import { groupAnnotation } from "../../vocabulary/names.ts";
import type { MergeStrategy } from "../../fields/merge/merge-fields.ts";
import type { ResourceContext } from "../request/context.ts";
import type { HttpService, OpenedWorkspace } from "../service.ts";
import { OpenedSides } from "./opened-sides.ts";
import { readPosted, sendPosted, writtenText } from "../transactions/posted-object.ts";
import { mayGet, writeAccess } from "../transactions/write-access.ts";

const names = { work: "the merge", theirs: "the workspace", ours: "the target" };

/**
 * POST of a WorkspaceMerge: merges what a workspace has changed in one transaction. The user needs the right to enter the workspace, and
 * to get its objects there and in the target, where each write is authorized, admitted and validated as an operation of a Transaction. The
 * audit event has the result without values.
 *
 * @throws {StatusError} Conflict with a cause for each conflict that the strategy doesn't resolve; the errors of `mergeBranch`.
 */
export async function serveMerge(service: HttpService, request: ResourceContext): Promise<void> {
  const { engine } = service;
  const posted = await readPosted(service, request, jsonOf);
  const { object, parameters, report } = posted;
  const { dryRun, fieldManager } = parameters;
  const merge = objectAs<WorkspaceMerge>(object);
  const { strategy } = merge.spec;
  const outcome = await OpenedSides.use(service, request, async (sides) => {
    const workspace = await sides.open(merge.spec.workspace);
    const into = await targetOf(sides, workspace, merge.spec);
    const branch = { ...sides.view(workspace.service), own: workspace.own, start: workspace.start };
    const pause = () => sides.pause("merge");
    const chosen = strategy ? (strategy as MergeStrategy) : undefined;
    return mergeBranch(into.engine, { branch, strategy: chosen, dryRun, pause }, (staged) =>
      writeAccess(into, staged, request, { fieldManager, mayRead: mayGet }),
    );
  });
  if (!dryRun) refuseMergeConflicts(outcome, names);
  merge.status = mergeStatusOf(outcome, "merge", dryRun);
  report.annotate(
    groupAnnotation(engine.vocabulary.groupSuffix, "objects", "tenancy"),
    writtenText(merge.status.objects ?? []),
  );
  return sendPosted(service, request, posted);
}

async function targetOf(
  sides: OpenedSides,
  workspace: OpenedWorkspace,
  { into }: WorkspaceMergeSpec,
): Promise<HttpService> {
  const target = into ? (await sides.open(into)).service : await sides.baseOf(workspace);
  if (target !== undefined) return target;
  throw new StatusError(
    "BadRequest",
    `spec.into: must be set, because the workspace ${JSON.stringify(workspace.name)} is not a branch: it began with default objects`,
  );
}
