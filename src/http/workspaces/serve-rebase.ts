import { jsonOf } from "../../base/json/value.ts";
import type { MergeStrategy } from "../../fields/merge/merge-fields.ts";
import type { WorkspaceRebase } from "../../kinds/tenancy/workspace-rebase.ts";
import { mergeStatusOf, refuseMergeConflicts } from "../../resources/branches/branch-status.ts";
import { keyOf } from "../../resources/registry/registry.ts";
import { objectAs } from "../../schema/api-object.ts";
import { forbidden } from "../request/attributes.ts";
import type { ResourceContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";
import { OpenedSides } from "./opened-sides.ts";
import { readPosted, sendPosted } from "../transactions/posted-object.ts";
import { mayGet } from "../transactions/write-access.ts";

const names = { work: "the rebase", theirs: "the base", ours: "the workspace" };

/**
 * POST of a WorkspaceRebase: moves a workspace to a newer state of its base. The user needs the right to enter the workspace and to update
 * its object.
 *
 * @throws {StatusError} Forbidden; Conflict with a cause for each conflict that the strategy doesn't resolve; those of the rebase.
 */
export async function serveRebase(service: HttpService, request: ResourceContext): Promise<void> {
  const { user } = request;
  const { authorizer, workspaces } = service;
  const posted = await readPosted(service, request, jsonOf);
  const { object, parameters } = posted;
  const { dryRun } = parameters;
  const rebase = objectAs<WorkspaceRebase>(object);
  const { workspace: name, resourceVersion, strategy } = rebase.spec;
  const outcome = await OpenedSides.use(service, request, async (sides) => {
    const workspace = await sides.open(name);
    const attributes = { ...workspaces!.accessTo(name, user), verb: "update" };
    const decision = await authorizer.authorize(attributes);
    if (decision.verdict !== "allow") throw forbidden(attributes, decision);
    const base = await sides.baseOf(workspace);
    const view = sides.view(workspace.service);
    return workspaces!.rebase(name, {
      resourceVersion: resourceVersion || undefined,
      strategy: strategy ? (strategy as MergeStrategy) : undefined,
      dryRun,
      pause: () => sides.pause("rebase"),
      async mayRead(one) {
        if (!(await view.mayGet(one)) || (base !== undefined && !(await mayGet(base, user, one))))
          return false;
        // The object is invisible to those who may not read it in the base of the base.
        const key = keyOf(one.resource, one.namespace, one.name);
        const visible = await view.engine.store.get(key);
        return visible !== undefined || (await workspace.own.get(key)) === undefined;
      },
    });
  });
  if (!dryRun) refuseMergeConflicts(outcome, names);
  rebase.status = mergeStatusOf(outcome, "rebase", dryRun);
  return sendPosted(service, request, posted);
}
