import { kind, struct } from "./v1alpha1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, string, type Static } from "../../schema/types.ts";
import { checkStrategy, mergeStatus } from "./changes.ts";

const WorkspaceMergeSpec = struct("WorkspaceMergeSpec", "The workspaces to merge.", {
  workspace: field(1, string, "Name of the workspace whose changes are merged.").required(),
  into: field(
    2,
    string,
    "Name of the workspace into which they are merged; by default the base of the workspace.",
  ),
  strategy: field(
    3,
    string,
    "Values of conflicts: ours (those of the target) or theirs (those of the workspace); by default a conflict prevents the merge.",
  ),
});
export type WorkspaceMergeSpec = Static<typeof WorkspaceMergeSpec>;

const WorkspaceMergeStatus = struct(
  "WorkspaceMergeStatus",
  "Result of a merge, or of its dry run.",
  mergeStatus,
);
export type WorkspaceMergeStatus = Static<typeof WorkspaceMergeStatus>;

/** Merges the changes of a workspace into its base or another workspace. It is never stored. */
export const WorkspaceMerge = kind({
  name: "WorkspaceMerge",
  resource: "workspacemerges",
  singular: "workspacemerge",
  scope: "Cluster",
  doc: "Merges what a workspace has changed into its base or into another workspace, in one transaction.",
  verbs: ["create"],
  servedByDefault: false,
  fields: {
    metadata: field(1, ObjectMeta, "Object metadata; it has no effect.").emitEmpty(),
    spec: field(2, WorkspaceMergeSpec, "The workspaces to merge.").required(),
    status: field(3, WorkspaceMergeStatus, "The result, set by the server.").emitEmpty(),
  },
  validate({ spec: { workspace, into, strategy } }, report) {
    const at = report.at("spec");
    if (!workspace) at.at("workspace").required();
    else if (into === workspace) at.at("into").invalid(into, "must be another workspace");
    checkStrategy(strategy, at.at("strategy"));
  },
});
export type WorkspaceMerge = ObjectFor<typeof WorkspaceMerge>;
