import type {
  WorkspaceConflict,
  WorkspaceFieldChange,
  WorkspaceObjectChange,
} from "../../kinds/tenancy/changes.ts";
import type { WorkspaceDiffStatus } from "../../kinds/tenancy/workspace-diff.ts";
import type { WorkspaceMergeStatus } from "../../kinds/tenancy/workspace-merge.ts";

/** The sides of a merge in its conflicts. */
export interface SideNames {
  readonly theirs: string;
  readonly ours: string;
}

/** Returns a comparison as text. */
export function diffText({ objects = [], moreObjects, message }: WorkspaceDiffStatus): string {
  const more = moreObjects === undefined ? [] : [`and ${moreObjects} more objects`];
  return lines([...objects.flatMap(objectLines), ...more, message ?? ""]);
}

/** Whether a merge isn't possible without a strategy. */
export function hasConflicts({ conflicts = [] }: WorkspaceMergeStatus): boolean {
  return conflicts.some(({ resolution }) => resolution === undefined);
}

/** Returns the result of a merge as text. */
export function mergeText(status: WorkspaceMergeStatus, names: SideNames): string {
  const { objects = [], conflicts = [], moreConflicts, message = "", resourceVersion } = status;
  const version = resourceVersion === undefined ? "" : ` at resource version ${resourceVersion}`;
  const written = hasConflicts(status) ? [] : objects.filter(({ action }) => action !== "none");
  return lines([
    ...written.flatMap(objectLines),
    ...conflicts.map((one) => conflictLine(one, names)),
    ...(moreConflicts === undefined ? [] : [`and ${moreConflicts} more conflicts`]),
    `${message}${version}`,
  ]);
}

export function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join("");
}

export function objectLines({
  action,
  fields = [],
  moreFields,
  notes = [],
  ...object
}: WorkspaceObjectChange): string[] {
  return [
    `${action} ${nameOf(object)}`,
    ...fields.map(fieldLine),
    ...(moreFields === undefined ? [] : [`  and ${moreFields} more fields`]),
    ...notes.map((note) => `  note: ${note}`),
  ];
}

function fieldLine({ path, from, to, managers = [], changedIn }: WorkspaceFieldChange): string {
  const origin =
    changedIn === undefined || changedIn === "workspace"
      ? []
      : [`changed in ${changedIn === "both" ? "both" : "the base"}`];
  const owners = managers.length === 0 ? [] : [managers.join(", ")];
  const facts = [...owners, ...origin].join("; ");
  const end = facts === "" ? "" : `  (${facts})`;
  if (from === undefined) return `  + ${path}: ${to ?? ""}${end}`;
  return to === undefined ? `  - ${path}: ${from}${end}` : `  ~ ${path}: ${from} -> ${to}${end}`;
}

function conflictLine(conflict: WorkspaceConflict, { theirs, ours }: SideNames): string {
  const { path, reason, contents, resolution } = conflict;
  const name = nameOf(conflict);
  const start = resolution === undefined ? "conflict" : `resolved with ${resolution}`;
  const show = (value: string | undefined, managers: readonly string[] = []) =>
    `${value ?? "absent"}${managers.length === 0 ? "" : ` by ${managers.join(", ")}`}`;
  if (reason === "Deleted" && path !== undefined)
    return `${start}: ${name}: deleted in ${theirs}, but ${path} was changed from ${show(conflict.base)} to ${show(conflict.ours, conflict.ourManagers)} in ${ours}`;
  if (reason === "Deleted") return `${start}: ${name}: changed in ${theirs}, deleted in ${ours}`;
  if (reason === "Replaced") return `${start}: ${name}: deleted in ${theirs}, created again in ${ours}`;
  if (reason === "Terminating") return `${start}: ${name}: its deletion has not ended in ${ours}`;
  if (reason === "InUse")
    return `${start}: ${name}: deleted in ${theirs}, contains ${contents ?? "other objects"} in ${ours}`;
  if (reason === "NotServed") return `${start}: ${name}: the kind is not served in ${ours}`;
  return `${start}: ${name}: ${path ?? ""}: ${show(conflict.base)} at the start, ${show(conflict.theirs, conflict.theirManagers)} in ${theirs}, ${show(conflict.ours, conflict.ourManagers)} in ${ours}`;
}

function nameOf({
  kind,
  namespace,
  name,
}: Pick<WorkspaceObjectChange, "kind" | "namespace" | "name">): string {
  return `${kind.toLowerCase()} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}
