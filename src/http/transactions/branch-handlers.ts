import { WorkspaceDiff } from "../../kinds/tenancy/workspace-diff.ts";
import { WorkspaceMerge } from "../../kinds/tenancy/workspace-merge.ts";
import type { BranchHandlers } from "../service.ts";
import { serveDiff } from "./serve-diff.ts";
import { serveMerge } from "./serve-merge.ts";

/** Serve the POSTs of kinds about branches. */
export const branchHandlers: BranchHandlers = new Map([
  [WorkspaceDiff.name, serveDiff],
  [WorkspaceMerge.name, serveMerge],
]);
