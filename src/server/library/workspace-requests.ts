import type { UserInfo } from "../../base/user-info.ts";
import { WorkspaceDiff } from "../../kinds/tenancy/workspace-diff.ts";
import { WorkspaceMerge } from "../../kinds/tenancy/workspace-merge.ts";
import { WorkspaceRebase } from "../../kinds/tenancy/workspace-rebase.ts";
import { diffText, mergeText, type SideNames } from "../../resources/branches/branch-text.ts";
import type { LocalRequests } from "./local-requests.ts";
import type {
  WorkspaceDiffOptions,
  WorkspaceDiffResult,
  WorkspaceMergeOptions,
  WorkspaceMergeResult,
  WorkspaceRebaseOptions,
} from "./workspace-results.ts";

/** Message of an error about a server that doesn't serve workspaces. */
export const workspacesOff =
  'workspaces are not served: create the server with runtimeConfig: "api/alpha=true"';

/** Sends the comparisons, merges and rebases of a workspace with the rights of a user. */
export class WorkspaceRequests {
  constructor(
    private readonly local: LocalRequests,
    private readonly user: UserInfo,
    private readonly workspace: string,
  ) {}

  async diff({ to, sinceStart }: WorkspaceDiffOptions = {}): Promise<WorkspaceDiffResult> {
    const { local, user, workspace } = this;
    const spec = defined({ workspace, to, sinceStart });
    const status = await local.post<Omit<WorkspaceDiffResult, "text">>(user, WorkspaceDiff, spec);
    return { ...status, objects: status.objects ?? [], text: diffText(status) };
  }

  merge(options: WorkspaceMergeOptions = {}): Promise<WorkspaceMergeResult> {
    const { into, strategy, fieldManager = "plinth", dryRun } = options;
    const sides = { theirs: this.workspace, ours: into ?? "the base" };
    return this.write(WorkspaceMerge, { into, strategy }, sides, { ...dryRunOf(dryRun), fieldManager });
  }

  rebase({ resourceVersion, strategy, dryRun }: WorkspaceRebaseOptions = {}): Promise<WorkspaceMergeResult> {
    const sides = { theirs: "the base", ours: this.workspace };
    return this.write(WorkspaceRebase, { resourceVersion, strategy }, sides, dryRunOf(dryRun));
  }

  private async write(
    kind: typeof WorkspaceMerge | typeof WorkspaceRebase,
    spec: object,
    sides: SideNames,
    query: Readonly<Record<string, string>>,
  ): Promise<WorkspaceMergeResult> {
    const { local, user, workspace } = this;
    const posted = defined({ workspace, ...spec });
    const status = await local.post<Omit<WorkspaceMergeResult, "text">>(user, kind, posted, query);
    return { ...status, objects: status.objects ?? [], text: mergeText(status, sides) };
  }
}

function dryRunOf(dryRun = false): Readonly<Record<string, string>> {
  return dryRun ? { dryRun: "All" } : {};
}

function defined(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
