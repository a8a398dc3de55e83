import { WorkspaceDiff } from "../../kinds/tenancy/workspace-diff.ts";
import { WorkspaceMerge } from "../../kinds/tenancy/workspace-merge.ts";
import { WorkspaceRebase } from "../../kinds/tenancy/workspace-rebase.ts";
import { WorkspacePreview } from "../../kinds/tenancy/workspace-preview.ts";
import type { BranchHandlers } from "../service.ts";
import { serveDiff } from "./serve-diff.ts";
import { serveMerge } from "./serve-merge.ts";
import { servePreview } from "./serve-preview.ts";
import { serveRebase } from "./serve-rebase.ts";

/** Serve the POSTs of kinds about branches. */
export const branchHandlers: BranchHandlers = new Map([
  [WorkspaceDiff.name, serveDiff],
  [WorkspaceMerge.name, serveMerge],
  [WorkspacePreview.name, servePreview],
  [WorkspaceRebase.name, serveRebase],
]);
