import { struct } from "./v1alpha1.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { field, int32, list, string, type Static } from "../../schema/types.ts";

/** Members that name an object, with the first four numbers. */
const objectNames = {
  apiVersion: field(1, string, "API version of the object.").required(),
  kind: field(2, string, "Kind of the object.").required(),
  namespace: field(3, string, "Namespace of the object; absent if the kind is cluster-scoped."),
  name: field(4, string, "Name of the object.").required(),
};

const WorkspaceFieldChange = struct("WorkspaceFieldChange", "A field with different values in two states.", {
  path: field(1, string, "Path of the field, such as `.spec.replicas`.").required(),
  from: field(2, string, "Earlier value, as JSON of at most 256 characters; absent if there is none."),
  to: field(3, string, "Later value, as JSON of at most 256 characters; absent if there is none."),
  managers: field(
    4,
    list(string),
    "Names of the field managers that own the field in the later state, or in the earlier one if it was removed.",
  ).atomic(),
  changedIn: field(
    5,
    string,
    "Side that has changed the field since the workspace began: workspace, base or both; absent if two workspaces are compared.",
  ),
});
export type WorkspaceFieldChange = Static<typeof WorkspaceFieldChange>;

export const WorkspaceObjectChange = struct(
  "WorkspaceObjectChange",
  "An object that differs, or is written.",
  {
    ...objectNames,
    action: field(
      5,
      string,
      "In a comparison: created, changed or deleted, in a preview also terminating. In a merge: create, update, delete, or none if it is left as it is.",
    ).required(),
    fields: field(
      6,
      list(WorkspaceFieldChange),
      "Fields that differ, unless the object was created or deleted; at most 100.",
    ).atomic(),
    moreFields: field(7, int32, "Number of fields beyond those in `fields`."),
    notes: field(8, list(string), "Parts that are left out, with the reason.").atomic(),
  },
);
export type WorkspaceObjectChange = Static<typeof WorkspaceObjectChange>;

export const WorkspaceConflict = struct(
  "WorkspaceConflict",
  "A field or object that both sides have changed.",
  {
    ...objectNames,
    path: field(5, string, "Path of the field; absent if the conflict is about the object."),
    reason: field(
      6,
      string,
      "Reason: Changed (on both sides), Deleted (on one side), Replaced (created again), Terminating, InUse (has objects of others), or NotServed (the kind).",
    ).required(),
    base: field(
      7,
      string,
      "Value with which the workspace began, as JSON of at most 256 characters; absent if there was none.",
    ),
    theirs: field(8, string, "Value of the side whose changes are merged, in the same form."),
    ours: field(9, string, "Value of the side that is written, in the same form."),
    theirManagers: field(10, list(string), "Names of the field managers that own `theirs`.").atomic(),
    ourManagers: field(11, list(string), "Names of the field managers that own `ours`.").atomic(),
    resolution: field(
      12,
      string,
      "Side whose value the strategy takes: ours or theirs; absent if the conflict prevents the merge.",
    ),
    contents: field(
      13,
      string,
      "An object of others in the namespace or definition; only for the reason InUse.",
    ),
  },
);
export type WorkspaceConflict = Static<typeof WorkspaceConflict>;

const mergeStrategies = ["ours", "theirs"];

/** Checks a `spec.strategy`; empty for none. */
export function checkStrategy(strategy: string | undefined, report: FieldReport): void {
  if (strategy && !mergeStrategies.includes(strategy)) report.notSupported(strategy, mergeStrategies);
}

/** Checks that a text is a resource version, unless it is empty. */
export function checkVersion(version: string | undefined, report: FieldReport): void {
  if (version && !/^[1-9]\d{0,15}$/.test(version)) report.invalid(version, "must be a resource version");
}

/** Members of the status of a merge or rebase. */
export const mergeStatus = {
  message: field(1, string, "Summary in a sentence."),
  resourceVersion: field(
    2,
    string,
    "Resource version of all writes; absent if nothing was written, and for a dry run.",
  ),
  objects: field(
    3,
    list(WorkspaceObjectChange),
    "Objects that are written, in their order, and those with conflicts.",
  ).atomic(),
  conflicts: field(4, list(WorkspaceConflict), "Conflicts; at most 100.").atomic(),
  moreConflicts: field(5, int32, "Number of conflicts beyond those in `conflicts`."),
  hidden: field(6, int32, "Number of objects that are left out because you may not read them."),
};
