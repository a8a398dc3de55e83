import { WorkspaceDiff } from "../../kinds/tenancy/workspace-diff.ts";
import { WorkspaceMerge } from "../../kinds/tenancy/workspace-merge.ts";
import { WorkspaceRebase } from "../../kinds/tenancy/workspace-rebase.ts";
import { WorkspacePreview } from "../../kinds/tenancy/workspace-preview.ts";
import type { BranchHandlers } from "../service.ts";
import { serveDiff } from "./serve-diff.ts";
import { serveMerge } from "./serve-merge.ts";
import { PreviewSlots } from "./preview-slots.ts";
import { servePreview } from "./serve-preview.ts";
import { serveRebase } from "./serve-rebase.ts";

/** Returns what serves the POSTs of kinds about branches of a server. */
export function branchHandlers(): BranchHandlers {
  const slots = new PreviewSlots();
  const handlers: BranchHandlers = new Map([
    [WorkspaceDiff.name, serveDiff],
    [WorkspaceMerge.name, serveMerge],
    [WorkspacePreview.name, (service, request) => servePreview(service, request, slots)],
    [WorkspaceRebase.name, serveRebase],
  ]);
  return handlers;
}
