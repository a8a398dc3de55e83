import { StatusError } from "../../base/status-error.ts";
import type { WorkspaceDiff, WorkspaceDiffSpec } from "../../kinds/tenancy/workspace-diff.ts";
import { diffStatus } from "../../resources/branches/branch-status.ts";
import {
  compareBranches,
  type ComparedSide,
  type Comparison,
} from "../../resources/branches/compare-branches.ts";
import { objectAs } from "../../schema/api-object.ts";
import type { ResourceContext } from "../request/context.ts";
import type { HttpService, OpenedWorkspace } from "../service.ts";
import { OpenedSides } from "./opened-sides.ts";
import { readPosted, sendPosted } from "../transactions/posted-object.ts";

/**
 * POST of a WorkspaceDiff: compares what a workspace has changed with its base or another workspace. The user needs the right to enter the
 * workspaces, and sees the objects that they may get on both sides.
 */
export async function serveDiff(service: HttpService, request: ResourceContext): Promise<void> {
  const posted = await readPosted(service, request);
  const diff = objectAs<WorkspaceDiff>(posted.object);
  diff.status = await OpenedSides.use(service, request, async (sides) => {
    const { note, ...comparison } = await comparisonOf(service, sides, diff.spec);
    const status = diffStatus(await compareBranches(comparison));
    return note === undefined ? status : { ...status, message: `${status.message}; ${note}` };
  });
  return sendPosted(service, request, posted);
}

async function comparisonOf(
  service: HttpService,
  sides: OpenedSides,
  { workspace: name, to: other, sinceStart }: WorkspaceDiffSpec,
): Promise<Comparison & { readonly note?: string | undefined }> {
  const workspace = await sides.open(name);
  const view = sides.view(workspace.service);
  const pause = () => sides.pause("comparison");
  if (other) {
    const second = await sides.open(other);
    const { uids, note } = differentKeyspaces(workspace, second);
    const owns = uids.map((uid) => service.workspaces!.ownKeys(uid));
    return { from: { view }, to: { view: sides.view(second.service) }, owns, pause, note };
  }
  const start = startOf(workspace, view);
  const base = sinceStart === true ? undefined : await sides.baseOf(workspace);
  const from = base === undefined ? start : { view: sides.view(base) };
  return { from, to: { view }, start, owns: [workspace.own], pause };
}

/** Returns the state with which a workspace begins. What of it the user may see is decided by the rights in the base, too. */
function startOf({ name, start }: OpenedWorkspace, view: ComparedSide["view"]): ComparedSide {
  if (start === undefined)
    throw new StatusError("BadRequest", `the workspace ${JSON.stringify(name)} has no base`);
  return { view: { ...view, engine: { ...view.engine, store: start.store } }, at: start.at };
}

/** A keyspace of a workspace, or a state in one; the server's own has an empty uid. */
interface Level {
  readonly uid: string;
  readonly at: string;
  readonly isState: boolean;
}

function levelsOf({ uid, bases }: OpenedWorkspace): Level[] {
  const states = bases.map((base) => ({
    uid: base.uid ?? "",
    at: base.resourceVersion,
    isState: base.workspace === undefined,
  }));
  return [{ uid, at: "", isState: false }, ...states];
}

/** Returns the keyspaces that two workspaces don't share, and a note if their shared base is in different states. */
function differentKeyspaces(
  first: OpenedWorkspace,
  second: OpenedWorkspace,
): { readonly uids: readonly string[]; readonly note: string | undefined } {
  const [ours, theirs] = [levelsOf(first), levelsOf(second)];
  const common = ours.findIndex(({ uid }) => theirs.some((one) => one.uid === uid));
  const shared = ours[common];
  const other = theirs.findIndex(({ uid }) => uid === shared?.uid);
  const own = (levels: readonly Level[], end: number) => (end === -1 ? levels : levels.slice(0, end));
  const levels = [...own(ours, common), ...own(theirs, other)].filter(({ isState }) => !isState);
  // The workspace itself has changed since it was branched.
  const isBranched = shared !== undefined && !shared.isState && shared.at !== theirs[other]!.at;
  const uids = new Set([...levels.map(({ uid }) => uid), ...(isBranched ? [shared.uid] : [])]);
  const isSame = shared !== undefined && (isBranched || shared.at === theirs[other]!.at);
  return {
    uids: [...uids],
    note: isSame ? undefined : "their bases differ, and objects that neither has changed are not compared",
  };
}
