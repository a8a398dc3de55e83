/** The names of an object in a comparison or merge. */
export interface ChangedNames {
  readonly apiVersion: string;
  readonly kind: string;
  /** Absent for objects of the cluster. */
  readonly namespace?: string;
  readonly name: string;
}

/** A field with different values in two states. Values are JSON, shortened by the server, which also masks those of secrets. */
export interface ChangedField {
  readonly path: string;
  /** Absent if the field was added. */
  readonly from?: string;
  /** Absent if the field was removed. */
  readonly to?: string;
  readonly managers?: readonly string[];
  /** Side that has changed it since the workspace began. */
  readonly changedIn?: "workspace" | "base" | "both";
}

/** An object that differs, or is written. */
export interface ChangedObject extends ChangedNames {
  readonly action: string;
  readonly fields?: readonly ChangedField[];
  readonly moreFields?: number;
  readonly notes?: readonly string[];
}

/** The status of a WorkspaceDiff. */
export interface Difference {
  readonly message?: string;
  readonly objects?: readonly ChangedObject[];
  readonly moreObjects?: number;
  readonly hidden?: number;
}

/** A field or object that both sides have changed. */
export interface Conflict extends ChangedNames {
  /** Absent if the conflict is about the object. */
  readonly path?: string;
  readonly reason: string;
  readonly base?: string;
  /** Value of the side whose changes are merged. */
  readonly theirs?: string;
  /** Value of the side that is written. */
  readonly ours?: string;
  readonly theirManagers?: readonly string[];
  readonly ourManagers?: readonly string[];
  /** Side whose value the strategy takes; absent if the conflict prevents the merge. */
  readonly resolution?: Side;
  readonly contents?: string;
}

/** A side of a merge: `ours` is the one that is written. */
export type Side = "ours" | "theirs";

/** The status of a WorkspaceMerge or WorkspaceRebase. */
export interface MergeStatus {
  readonly message?: string;
  /** Absent if nothing was written. */
  readonly resourceVersion?: string;
  readonly objects?: readonly ChangedObject[];
  readonly conflicts?: readonly Conflict[];
  readonly moreConflicts?: number;
  readonly hidden?: number;
}

/** The names of the sides of a merge. */
export type SideNames = Readonly<Record<Side, string>>;

/** Returns whether conflicts prevent a merge. */
export function isPrevented({ conflicts = [] }: MergeStatus): boolean {
  return conflicts.some(({ resolution }) => resolution === undefined);
}

/** Returns the objects that a merge writes, without those that are listed for their conflicts. */
export function writtenObjects({ objects = [] }: MergeStatus): readonly ChangedObject[] {
  return objects.filter(({ action }) => action !== "none");
}

/** Returns what a conflict about an object is. */
export function conflictText(
  { reason, path, contents = "other objects" }: Conflict,
  names: SideNames,
): string {
  const { ours, theirs } = names;
  switch (reason) {
    case "Deleted":
      if (path !== undefined) return `deleted in ${theirs}, changed in ${ours}`;
      return `changed in ${theirs}, deleted in ${ours}`;
    case "Replaced":
      return `deleted in ${theirs}, created again in ${ours}`;
    case "Terminating":
      return `its deletion has not ended in ${ours}`;
    case "InUse":
      return `deleted in ${theirs}, contains ${contents} in ${ours}`;
    case "NotServed":
      return `the kind is not served in ${ours}`;
    default:
      return `changed in ${theirs} and in ${ours}`;
  }
}

/** Returns who changed a field: its field managers, and the side if it isn't the workspace alone. */
export function authorText({ managers = [], changedIn }: ChangedField): string {
  const side = { both: "changed in both", base: "changed in the base", workspace: "" }[
    changedIn ?? "workspace"
  ];
  return [managers.join(", "), side].filter((text) => text !== "").join("; ");
}

/** `ConfigMap shop/settings` */
export function nameText({ kind, namespace, name }: ChangedNames): string {
  return `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}

/** Returns a message as a sentence. */
export function sentenceOf(message: string): string {
  return message === "" ? "" : `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}
