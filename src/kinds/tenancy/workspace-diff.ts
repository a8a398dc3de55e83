import { kind, struct } from "./v1alpha1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, field, int32, list, string, type Static } from "../../schema/types.ts";
import { WorkspaceObjectChange } from "./changes.ts";

const WorkspaceDiffSpec = struct("WorkspaceDiffSpec", "The states to compare.", {
  workspace: field(1, string, "Name of the workspace.").required(),
  to: field(
    2,
    string,
    "Name of the workspace with which it is compared; by default its base is compared with it, in the objects that the workspace has changed.",
  ),
  sinceStart: field(
    3,
    bool,
    "Whether the base is that with which the workspace began, instead of the base now; excludes `to`.",
  ),
});
export type WorkspaceDiffSpec = Static<typeof WorkspaceDiffSpec>;

const WorkspaceDiffStatus = struct("WorkspaceDiffStatus", "The difference.", {
  message: field(1, string, "Summary in a sentence."),
  objects: field(2, list(WorkspaceObjectChange), "Objects that differ; at most 2000.").atomic(),
  moreObjects: field(3, int32, "Number of objects that differ beyond those in `objects`."),
  hidden: field(4, int32, "Number of objects that are left out because you may not read them."),
});
export type WorkspaceDiffStatus = Static<typeof WorkspaceDiffStatus>;

/** Compares a workspace with its base or with another workspace. It is never stored. */
export const WorkspaceDiff = kind({
  name: "WorkspaceDiff",
  resource: "workspacediffs",
  singular: "workspacediff",
  scope: "Cluster",
  doc: "Compares a workspace with its base or with another workspace, by object and field.",
  verbs: ["create"],
  servedByDefault: false,
  fields: {
    metadata: field(1, ObjectMeta, "Object metadata; it has no effect.").emitEmpty(),
    spec: field(2, WorkspaceDiffSpec, "The states to compare.").required(),
    status: field(3, WorkspaceDiffStatus, "The difference, set by the server.").emitEmpty(),
  },
  validate({ spec }, report) {
    const at = report.at("spec");
    if (!spec.workspace) at.at("workspace").required();
    if (spec.to && spec.sinceStart) at.at("sinceStart").forbidden("may not be set with to");
  },
});
export type WorkspaceDiff = ObjectFor<typeof WorkspaceDiff>;
