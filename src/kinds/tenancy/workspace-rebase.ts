import { kind, struct } from "./v1alpha1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, string, type Static } from "../../schema/types.ts";
import { checkStrategy, checkVersion, mergeStatus } from "./changes.ts";

const WorkspaceRebaseSpec = struct(
  "WorkspaceRebaseSpec",
  "The workspace to move, and the state of its base.",
  {
    workspace: field(1, string, "Name of the workspace.").required(),
    resourceVersion: field(
      2,
      string,
      "Resource version of the base with which the workspace begins afterwards; by default the newest one.",
    ),
    strategy: field(
      3,
      string,
      "Values of conflicts: ours (those of the workspace) or theirs (those of the base); by default a conflict prevents the rebase.",
    ),
  },
);
export type WorkspaceRebaseSpec = Static<typeof WorkspaceRebaseSpec>;

const WorkspaceRebaseStatus = struct(
  "WorkspaceRebaseStatus",
  "Result of a rebase, or of its dry run.",
  mergeStatus,
);
export type WorkspaceRebaseStatus = Static<typeof WorkspaceRebaseStatus>;

/** Moves a workspace to a newer state of its base. It is never stored. */
export const WorkspaceRebase = kind({
  name: "WorkspaceRebase",
  resource: "workspacerebases",
  singular: "workspacerebase",
  scope: "Cluster",
  doc: "Moves a workspace to a newer state of its base, with the changes that the workspace has made.",
  verbs: ["create"],
  servedByDefault: false,
  fields: {
    metadata: field(1, ObjectMeta, "Object metadata; it has no effect.").emitEmpty(),
    spec: field(2, WorkspaceRebaseSpec, "The workspace to move, and the state of its base.").required(),
    status: field(3, WorkspaceRebaseStatus, "The result, set by the server.").emitEmpty(),
  },
  validate({ spec: { workspace, resourceVersion, strategy } }, report) {
    const at = report.at("spec");
    if (!workspace) at.at("workspace").required();
    checkVersion(resourceVersion, at.at("resourceVersion"));
    checkStrategy(strategy, at.at("strategy"));
  },
});
export type WorkspaceRebase = ObjectFor<typeof WorkspaceRebase>;
