import { kind, struct } from "./v1alpha1.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, int32, list, string, time, type Static } from "../../schema/types.ts";

/** Maximum number of `spec.resources`. */
const maxResources = 100;

const UndoSpec = struct("UndoSpec", "The writes to undo.", {
  change: field(
    1,
    string,
    "Audit ID of the request or transaction to undo; excludes `user`, `manager`, `from` and `to`.",
  ),
  user: field(2, string, "Name of the user whose writes are undone; by default any, if `manager` is set."),
  manager: field(
    3,
    string,
    "Name of the field manager whose writes are undone; by default any, if `user` is set.",
  ),
  from: field(4, time, "Time of the first write to undo; required with `user` or `manager`.").nullable(),
  to: field(5, time, "Time of the last write to undo, to the second; by default now.").nullable(),
  resources: field(
    6,
    list(string),
    `Resources whose history is searched, such as configmaps or deployments.apps, at most ${maxResources}; by default all whose history is kept.`,
  ).atomic(),
  namespace: field(7, string, "Namespace of the objects; by default all, and cluster-scoped objects."),
});
export type UndoSpec = Static<typeof UndoSpec>;

const UndoneField = struct("UndoneField", "A field that the undo changes.", {
  path: field(1, string, "Path of the field, such as `.spec.replicas`.").required(),
  from: field(
    2,
    string,
    "Value before the undo, as JSON of at most 256 characters; absent if there is none.",
  ),
  to: field(3, string, "Value after the undo, as JSON of at most 256 characters; absent if there is none."),
});
export type UndoneField = Static<typeof UndoneField>;

const UndoneObject = struct("UndoneObject", "An object of the change, and its undo.", {
  action: field(
    1,
    string,
    "Action of the undo: create, update, delete, or none if nothing is left to undo.",
  ).required(),
  apiVersion: field(2, string, "API version of the object.").required(),
  kind: field(3, string, "Kind of the object.").required(),
  namespace: field(4, string, "Namespace of the object; absent if the kind is cluster-scoped."),
  name: field(5, string, "Name of the object.").required(),
  fields: field(6, list(UndoneField), "Fields that an update changes; at most 100.").atomic(),
  moreFields: field(7, int32, "Number of changed fields beyond those in `fields`."),
  notes: field(8, list(string), "Parts that are not undone, with the reason.").atomic(),
});
export type UndoneObject = Static<typeof UndoneObject>;

const UndoConflict = struct("UndoConflict", "A field that another write has changed since.", {
  apiVersion: field(1, string, "API version of the object.").required(),
  kind: field(2, string, "Kind of the object.").required(),
  namespace: field(3, string, "Namespace of the object; absent if the kind is cluster-scoped."),
  name: field(4, string, "Name of the object.").required(),
  path: field(5, string, "Path of the field; absent if the conflict is about the object."),
  reason: field(
    6,
    string,
    "Reason: Changed (another value now), Replaced (another object of the name), Terminating (not deleted yet), or InUse (has objects of others).",
  ).required(),
  managers: field(7, list(string), "Names of the field managers that own the field now.").atomic(),
  before: field(
    8,
    string,
    "Value before the change, as JSON of at most 256 characters; absent if there was none.",
  ),
  after: field(
    9,
    string,
    "Value that the change gave, as JSON of at most 256 characters; absent if it removed it.",
  ),
  now: field(10, string, "Value now, as JSON of at most 256 characters; absent if there is none."),
  contents: field(
    11,
    string,
    "An object of others in the namespace or definition; only for the reason InUse.",
  ),
});
export type UndoConflict = Static<typeof UndoConflict>;

const UndoStatus = struct("UndoStatus", "Result of an undo, or of its dry run.", {
  message: field(1, string, "Summary in a sentence."),
  resourceVersion: field(
    2,
    string,
    "Resource version of all written objects; absent if there are none, and for a dry run.",
  ),
  objects: field(
    3,
    list(UndoneObject),
    "Objects of the change, in the order in which they are written.",
  ).atomic(),
  conflicts: field(4, list(UndoConflict), "Conflicts, only in a dry run; at most 100.").atomic(),
  moreConflicts: field(5, int32, "Number of conflicts beyond those in `conflicts`."),
});
export type UndoStatus = Static<typeof UndoStatus>;

/** Takes back what a change did. It is never stored. */
export const Undo = kind({
  name: "Undo",
  resource: "undos",
  singular: "undo",
  scope: "Cluster",
  doc: "Takes back the writes of a request, of a transaction, or of a user or field manager in an interval, unless others have changed the same fields since.",
  verbs: ["create"],
  servedByDefault: false,
  fields: {
    metadata: field(1, ObjectMeta, "Object metadata; it has no effect.").emitEmpty(),
    spec: field(2, UndoSpec, "The writes to undo.").required(),
    status: field(3, UndoStatus, "The result, set by the server.").emitEmpty(),
  },
  validate({ spec }, report) {
    checkSpec(spec, report.at("spec"));
  },
});
export type Undo = ObjectFor<typeof Undo>;

function checkSpec(spec: UndoSpec, report: FieldReport): void {
  const { change, user, manager, from, to, resources = [] } = spec;
  if (resources.length > maxResources) report.at("resources").tooMany(resources.length, maxResources);
  if (change) {
    for (const [name, value] of Object.entries({ user, manager, from, to }))
      if (value) report.at(name).forbidden("may not be set with change");
    return;
  }
  if (!user && !manager)
    return void report.at("change").required("must be set, or user or manager with from");
  if (!from) report.at("from").required("must be set with user or manager");
  else if (to && to < from) report.at("to").invalid(to, "must not be before from");
}
