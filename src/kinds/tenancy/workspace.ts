import { kind, struct } from "./v1alpha1.ts";
import { apiGroup } from "../../vocabulary/names.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, field, int32, int64, list, string, time, type Static } from "../../schema/types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { unchanged } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { checkVersion } from "./changes.ts";

const minLifeSeconds = 10;
const maxAdmins = 100;
const adminKinds = ["User", "Group"];

const WorkspaceSource = struct("WorkspaceSource", "The state with which a workspace begins.", {
  workspace: field(
    1,
    string,
    "Name of the workspace to branch; by default the objects of the server outside of workspaces.",
  ),
  resourceVersion: field(
    2,
    string,
    "Resource version whose state to begin with; by default the newest one, set by the server.",
  ),
  time: field(
    3,
    time,
    "Time whose state to begin with, to the second; requires kept history and excludes `resourceVersion`.",
  ).nullable(),
});
export type WorkspaceSource = Static<typeof WorkspaceSource>;

const WorkspaceAdmin = struct("WorkspaceAdmin", "A user or group with all rights in a workspace.", {
  kind: field(1, string, "User or Group.").required(),
  name: field(2, string, "Name of the user or group.").required(),
});
export type WorkspaceAdmin = Static<typeof WorkspaceAdmin>;

const WorkspaceSpec = struct("WorkspaceSpec", "Origin, life and administrators of a workspace.", {
  from: field(
    1,
    WorkspaceSource,
    "State with which the workspace begins; by default it has default objects only. Immutable.",
  ).nullable(),
  expirationSeconds: field(
    2,
    int32,
    `Seconds after its creation when the workspace is deleted, at least ${minLifeSeconds}; by default never.`,
  ).nullable(),
  admins: field(
    3,
    list(WorkspaceAdmin),
    `Users and groups that may do everything in the workspace, at most ${maxAdmins}; objects of its base only as far as they may read them there.`,
  ).atomic(),
  isolated: field(
    4,
    bool,
    "Whether nothing in the workspace has effects elsewhere: webhooks get dry runs or aren't called, and extension servers aren't served. Immutable.",
  ),
});
export type WorkspaceSpec = Static<typeof WorkspaceSpec>;

const WorkspaceBase = struct("WorkspaceBase", "A state that a workspace begins with.", {
  workspace: field(1, string, "Name of the workspace; absent outside of workspaces."),
  uid: field(2, string, "UID of the workspace, or the identifier of the default objects."),
  resourceVersion: field(3, string, "Resource version of the state.").required(),
});
export type WorkspaceBase = Static<typeof WorkspaceBase>;

const WorkspaceStatus = struct("WorkspaceStatus", "Observed state of a workspace.", {
  phase: field(1, string, "Phase of the workspace: Ready or Terminating."),
  url: field(2, string, "URL of the workspace; absent if the server has no socket."),
  bases: field(
    3,
    list(WorkspaceBase),
    "States that the workspace begins with: that of its source, then that of the source's source, and so on.",
  ).atomic(),
  objects: field(
    4,
    int64,
    "Number of objects that were written in the workspace and still exist; updated hourly, and when it is no longer in use.",
  ),
  bytes: field(5, int64, "Size of these objects in the store, with the marks of deleted ones, in bytes."),
  lastUsedTime: field(6, time, "Time of the last request to the workspace, updated with the other values."),
});
export type WorkspaceStatus = Static<typeof WorkspaceStatus>;

/** A workspace is a separate API in the same server, below `/clusters/NAME`. */
export const Workspace = kind({
  name: "Workspace",
  resource: "workspaces",
  singular: "workspace",
  scope: "Cluster",
  doc: "A separate API with objects, users and rules of its own; a branch if it begins with the state of another one.",
  nameForm: "label",
  servedByDefault: false,
  effect: {
    enforced: "requests below `/clusters/NAME` need the verb `access` for the workspace",
    acts: "the controller `workspace` deletes what a deleted or expired workspace has",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the workspace.").emitEmpty(),
    spec: field(2, WorkspaceSpec, "Origin, life and administrators of the workspace.").emitEmpty(),
    status: field(3, WorkspaceStatus, "Observed state of the workspace.").emitEmpty(),
  },
  validate({ spec = {} }, report) {
    checkSpec(spec, report.at("spec"));
  },
  validateUpdate({ spec }, live, report) {
    unchanged(spec?.from ?? undefined, live.spec?.from ?? undefined, report.at("spec", "from"));
    unchanged(spec?.isolated === true, live.spec?.isolated === true, report.at("spec", "isolated"));
  },
  beginDelete(copy, { vocabulary }) {
    const { metadata } = copy;
    const finalizer = contentFinalizer(vocabulary);
    const before = metadata.finalizers ?? [];
    if (!before.includes(finalizer)) metadata.finalizers = [...before, finalizer];
  },
  prepareDelete(copy) {
    copy.status = { ...copy.status, phase: "Terminating" };
  },
  status: {
    initial: () => ({}),
    // The server sets the status when it creates and deletes the workspace.
    write: (_written, live) => live.status,
  },
  columns: [
    nameColumn,
    {
      name: "Phase",
      type: "string",
      doc: "Phase of the workspace.",
      cell: ({ status }) => status?.phase ?? "",
    },
    {
      name: "From",
      type: "string",
      doc: "The workspace that it is a branch of.",
      cell: ({ spec }) => (spec?.from ? spec.from.workspace || "." : ""),
    },
    ageColumn,
  ],
});
export type Workspace = ObjectFor<typeof Workspace>;

/** Returns the finalizer that keeps a workspace until its objects are deleted. */
export function contentFinalizer({ groupSuffix }: Vocabulary): string {
  return apiGroup(groupSuffix, "content.tenancy");
}

function checkSpec({ from, expirationSeconds, admins = [] }: WorkspaceSpec, report: FieldReport): void {
  if (from?.resourceVersion && from.time)
    report.at("from", "time").forbidden("may not be set with resourceVersion");
  checkVersion(from?.resourceVersion, report.at("from", "resourceVersion"));
  if (typeof expirationSeconds === "number" && expirationSeconds < minLifeSeconds)
    report.at("expirationSeconds").invalid(expirationSeconds, `must be at least ${minLifeSeconds}`);
  if (admins.length > maxAdmins) report.at("admins").tooMany(admins.length, maxAdmins);
  for (const [index, admin] of admins.slice(0, maxAdmins).entries()) {
    const at = report.at("admins", index);
    if (!adminKinds.includes(admin.kind)) at.at("kind").notSupported(admin.kind, adminKinds);
    if (admin.name === "") at.at("name").required();
  }
}
