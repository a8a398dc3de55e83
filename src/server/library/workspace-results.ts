import type { WorkspaceDiff, WorkspaceMerge } from "../../kinds/all.ts";

/** Options of {@link WorkspaceClient.diff}. */
export interface WorkspaceDiffOptions {
  /** Name of the workspace with which it is compared; by default its base is compared with it. */
  readonly to?: string | undefined;
  /** Compares with the base at the time when the workspace began, instead of now; false by default. Excludes `to`. */
  readonly sinceStart?: boolean | undefined;
}

/** Options of {@link WorkspaceClient.rebase}. */
export interface WorkspaceRebaseOptions {
  /** State of the base with which the workspace begins afterwards; the newest by default. */
  readonly resourceVersion?: string | undefined;
  /** Values of conflicts: `ours` are those of the side that is written, `theirs` those of the other one. By default they are errors. */
  readonly strategy?: "ours" | "theirs" | undefined;
  /** Runs all checks and stores nothing; conflicts are in the result. False by default. */
  readonly dryRun?: boolean | undefined;
}

/** Options of {@link WorkspaceClient.merge}. */
export interface WorkspaceMergeOptions extends Omit<WorkspaceRebaseOptions, "resourceVersion"> {
  /** Name of the workspace into which it is merged; its base by default. */
  readonly into?: string | undefined;
  /** Name of the field manager; `plinth` by default. */
  readonly fieldManager?: string | undefined;
}

type DiffStatus = NonNullable<WorkspaceDiff["status"]>;

/** What differs: the status of a WorkspaceDiff, and its text. */
export interface WorkspaceDiffResult extends DiffStatus {
  /** Summary in a sentence. */
  readonly message: string;
  /** The objects that differ, each with its fields. */
  readonly objects: NonNullable<DiffStatus["objects"]>;
  /** The difference in lines, as `plinth diff` prints it. */
  readonly text: string;
}

type MergeStatus = NonNullable<WorkspaceMerge["status"]>;

/** What a merge or rebase did, or would do: the status of a WorkspaceMerge or WorkspaceRebase, and its text. */
export interface WorkspaceMergeResult extends MergeStatus {
  /** Summary in a sentence. */
  readonly message: string;
  /** The objects that are written, and those with conflicts. */
  readonly objects: NonNullable<MergeStatus["objects"]>;
  /** The result in lines, as `plinth merge` prints it. */
  readonly text: string;
}
